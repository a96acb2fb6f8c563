import { describe, expect, it } from 'vitest'
import type { ApiError, UnexpectedReport, UnexpectedResponseError } from '../../src/index.ts'
import {
  CANCELLED,
  CHARGE,
  CHARGE_REQUEST,
  DETAILS,
  OK,
  payment,
  SUBSCRIBED,
  SUBSCRIPTION,
} from '../support/bodies.ts'
import { errorOf, gatewayClient, subscriptionsClient } from '../support/clients.ts'
import type { Script } from '../support/scripted-server.ts'
import { startServer, withLogin } from '../support/scripted-server.ts'

const area = async (script: Script, onUnexpected?: (report: UnexpectedReport) => void) => {
  const server = await startServer(withLogin([script]))
  return subscriptionsClient(server.url, { retry: false, onUnexpected })
}
const gatewayArea = async (script: Script, onUnexpected?: (report: UnexpectedReport) => void) =>
  gatewayClient((await startServer([script])).url, { retry: false, onUnexpected })

describe('answers that are no JSON', () => {
  it('502 with an HTML page keeps its status', async () => {
    const headers = { 'content-type': 'text/html' }
    const gateway = await gatewayArea({ status: 502, body: '<h1>Bad Gateway</h1>', headers })
    const error = await errorOf<ApiError>(gateway.charge(CHARGE_REQUEST))
    expect(error).toMatchObject({ code: 'api_error', status: 502, outcome: 'unknown' })
  })

  it.each([200, 204])('an empty %i on reset and confirm resolves', async (status) => {
    const gateway = await gatewayArea({ status })
    expect(await gateway.reset()).toBeUndefined()
    expect(await gateway.confirm('conf_1', { otp: '123456' })).toEqual({})
  })

  it('an empty 200 on a charge or a cancellation is no success', async () => {
    expect(await errorOf((await gatewayArea({})).charge(CHARGE_REQUEST))).toMatchObject({
      code: 'unexpected_response',
      outcome: 'unknown',
    })
    expect(await errorOf((await area({})).cancel('sub-1'))).toMatchObject({ code: 'unexpected_response' })
  })

  it.each([500, 400])('an empty %i is an error', async (status) => {
    const error = await errorOf<ApiError>((await gatewayArea({ status })).reset())
    expect(error).toMatchObject({ status, body: undefined, errorCode: undefined })
  })

  it('an error whose body is cut keeps its status', async () => {
    const gateway = await gatewayArea({ status: 422, body: { error: { code: 'x' } }, fault: 'cut' })
    expect(await errorOf(gateway.reset())).toMatchObject({ status: 422, outcome: 'rejected' })
  })

  it('a success that is HTML, or JSON cut cleanly, is unexpected and of unknown outcome', async () => {
    for (const body of ['<html></html>', '{"id":"ch_1"']) {
      const error = await errorOf<UnexpectedResponseError>(
        (await gatewayArea({ body })).charge(CHARGE_REQUEST),
      )
      expect(error).toMatchObject({ code: 'unexpected_response', status: 200, outcome: 'unknown' })
    }
  })
})

describe('texts', () => {
  const text = JSON.stringify({ ...DETAILS, requestID: 'commande-é-€-টাকা' })
  it.each([
    ['UTF-8', text, 'application/json; charset=utf-8'],
    ['UTF-8 with a byte order mark', `\uFEFF${text}`, 'application/json'],
    ['UTF-8 without a content type', text, ''],
  ])('%s is read', async (_, body, type) => {
    const subscriptions = await area({ body, headers: { 'content-type': type } })
    expect((await subscriptions.details('sub-1')).requestID).toBe('commande-é-€-টাকা')
  })

  it('integers beyond what a number holds are not rounded, and strings with digits stay as they are', async () => {
    const body = `{"id":12345678901234567890,"subscriptionID":98765432109876543210,"requestID":9,"status":"PROCESSED","errorCode":"00","errorMessage":"12345678901234567890 \\"9007199254740993\\""}`
    const { data, response } = await (await area({ body })).cancel('sub-1').withResponse()
    expect(data).toMatchObject({
      id: '12345678901234567890',
      subscriptionID: '98765432109876543210',
      requestID: 9,
    })
    expect(data.errorMessage).toBe('12345678901234567890 "9007199254740993"')
    expect(response.body).toMatchObject({ id: '12345678901234567890' })
  })
})

describe('the envelope of area S', () => {
  it('200 with another code is a refusal that keeps code and body', async () => {
    const body = { errorCode: '07', errorMessage: 'start is over' }
    const error = await errorOf<ApiError>((await area({ body })).subscribe(SUBSCRIPTION))
    expect(error).toMatchObject({
      code: 'api_error',
      status: 200,
      errorCode: '07',
      outcome: 'rejected',
      body,
    })
    expect(error.message).toContain('start is over')
  })

  it('any status below 500 with a code is rejected, from 500 its outcome is unknown', async () => {
    const body = { errorCode: '07', errorMessage: '' }
    for (const status of [200, 400, 409, 422]) {
      const error = await errorOf((await area({ status, body })).subscribe(SUBSCRIPTION))
      expect(error).toMatchObject({ status, errorCode: '07', outcome: 'rejected' })
    }
    const error = await errorOf((await area({ status: 500, body })).subscribe(SUBSCRIPTION))
    expect(error).toMatchObject({ status: 500, errorCode: '07', outcome: 'unknown' })
  })

  it('200 without a code and without a url is no success', async () => {
    const error = await errorOf(
      (await area({ body: { invoiceID: 'inv-1', url: '' } })).subscribe(SUBSCRIPTION),
    )
    expect(error).toMatchObject({
      code: 'unexpected_response',
      outcome: 'unknown',
      body: { invoiceID: 'inv-1' },
    })
  })

  it('200 without a code but with url and invoiceId is a success, and a drift report', async () => {
    const reports: UnexpectedReport[] = []
    const body = { url: 'https://pay.example/a/1', invoiceId: 'inv-1' }
    const subscriptions = await area({ body }, (report) => reports.push(report))
    expect(await subscriptions.subscribe(SUBSCRIPTION)).toEqual({ url: body.url, invoiceID: 'inv-1' })
    expect(reports).toContainEqual(
      expect.objectContaining({ operation: 'subscriptions.subscribe', field: 'errorCode' }),
    )
  })

  it.each([0, '0', '', '000', 7, { code: '00' }])(
    'the odd code %j is no success and proves no refusal',
    async (code) => {
      const body = { ...SUBSCRIBED, errorCode: code }
      const error = await errorOf<ApiError>((await area({ body })).subscribe(SUBSCRIPTION))
      expect(error).toMatchObject({ status: 200, outcome: 'unknown', body })
    },
  )

  it.each([
    ['400 with the code of success', { status: 400, body: SUBSCRIBED }],
    ['401 with the code of success', { status: 401, body: SUBSCRIBED }],
    ['429 with the code of success', { status: 429, body: SUBSCRIBED }],
    ['200 with a code of its own', { body: { ...SUBSCRIBED, errorCode: '200' } }],
  ])('%s and all that a success has proves no refusal, and is not repeated', async (_, script) => {
    let sent = 0
    const server = await startServer(
      withLogin(() => {
        sent += 1
        return script
      }),
    )
    const error = await errorOf<ApiError>(subscriptionsClient(server.url).subscribe(SUBSCRIPTION))
    expect(error).toMatchObject({ outcome: 'unknown', retryable: false, attempts: 1, body: script.body })
    expect(sent).toBe(1)
  })

  it('a success code does not save an error status or a list', async () => {
    expect(
      await errorOf((await area({ status: 500, body: SUBSCRIBED })).subscribe(SUBSCRIPTION)),
    ).toMatchObject({
      status: 500,
    })
    expect(await errorOf((await area({ body: [CANCELLED] })).cancel('sub-1'))).toMatchObject({
      code: 'unexpected_response',
    })
  })

  it('a login answer may have a code or none; another code is a refusal', async () => {
    const token = {
      token_type: 'Bearer',
      expires_in: 3600,
      access_token: 'a-token',
      refresh_token: 'another',
    }
    for (const body of [token, { ...token, ...OK }]) {
      const server = await startServer([{ body }])
      expect(await subscriptionsClient(server.url).login()).toMatchObject({ access_token: 'a-token' })
    }
    const server = await startServer([{ body: { ...token, errorCode: '05' } }])
    const error = await errorOf<ApiError>(subscriptionsClient(server.url).login())
    expect(error).toMatchObject({ code: 'api_error', errorCode: '05', outcome: 'rejected', body: undefined })
  })
})

describe('answers that the server may extend or write otherwise', () => {
  it('unknown statuses and cycles are returned as they are', async () => {
    expect((await (await area({ body: { ...DETAILS, cycle: 'MONTHLY' } })).details('sub-1')).cycle).toBe(
      'MONTHLY',
    )
    const status = { invoiceId: 'inv-1', status: 'ON_HOLD', subscriptionId: 'NA', createdAt: 'x', ...OK }
    expect(await (await area({ body: status })).status('inv-1')).toEqual({ ...status, subscriptionId: null })
    const charge = { ...CHARGE, status: 'reversed' }
    expect((await (await gatewayArea({ status: 202, body: charge })).charge(CHARGE_REQUEST)).status).toBe(
      'reversed',
    )
  })

  it('other casings, numbers and texts give the same result as the specification’s form', async () => {
    const paid = payment(12, { subscriptionId: '5' })
    const { paymentId, subscriptionId, ...others } = paid
    const other = {
      ...others,
      paymentID: String(paymentId),
      subscriptionID: Number(subscriptionId),
      reverseTransactionAmount: '0.00',
      reverseTransactionDate: '',
      reverseTransactionId: '',
      ...OK,
    }
    expect(await (await area({ body: other })).payment('12')).toEqual({ ...paid, ...OK })
    const details = { ...DETAILS, amount: '25.00', enabled: 'true', id: 'sub-1' }
    expect(await (await area({ body: details })).details('sub-1')).toEqual(DETAILS)
  })

  it('a renewal that failed resolves and is not paid; fields that are not known are kept', async () => {
    const body = {
      ...CHARGE,
      id: 'ch_2',
      status: 'failed',
      outcome: 'WALLET_BLOCKED',
      error: { code: 'declined' },
    }
    const renewal = await (await gatewayArea({ status: 201, body })).renew('ch_1', { dueDate: '2026-12-01' })
    expect(renewal).toEqual(body)
  })

  it('a field that cannot be read is left out and reported by name, never by value', async () => {
    const reports: UnexpectedReport[] = []
    const body = { ...DETAILS, amount: 'a lot', enabled: [1] }
    const subscriptions = await area({ body }, (report) => {
      reports.push(report)
      throw new Error('a watcher that fails')
    })
    const { amount: _amount, enabled: _enabled, ...readable } = DETAILS
    expect(await subscriptions.details('sub-1')).toEqual(readable)
    expect(reports.map(({ field }) => field)).toEqual(['amount', 'enabled'])
    expect(JSON.stringify(reports)).not.toContain('a lot')
  })

  it('a missing field that the caller needs is an unexpected answer which keeps the body, without the payer’s number', async () => {
    const { id: _id, msisdn, ...body } = CHARGE
    const error = await errorOf<UnexpectedResponseError>(
      (await gatewayArea({ status: 202, body: { ...body, msisdn } })).charge(CHARGE_REQUEST),
    )
    expect(error.body).toEqual(body)
    expect(error).toMatchObject({ code: 'unexpected_response', status: 202, body, outcome: 'unknown' })
    expect(error.message).toContain('id')
  })

  it('a charge status that shows its status alone is no drift', async () => {
    const reports: UnexpectedReport[] = []
    const gateway = await gatewayArea({ body: { status: 'succeeded' } }, (report) => reports.push(report))
    expect(await gateway.status('ch_1')).toEqual({ status: 'succeeded' })
    expect(reports).toEqual([])
  })

  it('the payment list reads null as empty, and leaves out what is no record', async () => {
    const empty = await area({ body: { ...OK, subscriptionPayments: null } })
    expect((await empty.payments('sub-1')).subscriptionPayments).toEqual([])
    const odd = await area({
      body: { ...OK, subscriptionPayments: [null, { paymentId: 3, status: 'X' }, 4] },
    })
    expect((await odd.payments('sub-1')).subscriptionPayments).toEqual([
      expect.objectContaining({ paymentId: 3, status: 'X' }),
    ])
    const missing = await area({ body: OK })
    expect(await errorOf(missing.payments('sub-1'))).toMatchObject({ code: 'unexpected_response' })
  })
})

describe('the confirmation', () => {
  const confirm = async (script: readonly Script[]) => {
    const server = await startServer(script)
    const gateway = gatewayClient(server.url, { retry: false })
    return { server, confirmed: gateway.confirm('conf_1', { otp: '123456', chargeId: 'ch_1' }) }
  }

  it('reads the charge when the answer does not tell its status', async () => {
    const { server, confirmed } = await confirm([{ status: 204 }, { body: { status: 'succeeded' } }])
    expect(await confirmed).toEqual({ status: 'succeeded' })
    expect(server.requests.map(({ method, url, body }) => [method, url, body])).toEqual([
      ['POST', '/api/v1/mfs/confirm/conf_1', '{"otp":"123456"}'],
      ['GET', '/api/v1/mfs/charges/ch_1', ''],
    ])
  })

  it('does not read it when the answer tells it, and a reading that fails does not fail the confirmation', async () => {
    const told = await confirm([{ body: { status: 'failed' } }])
    expect(await told.confirmed).toEqual({ status: 'failed' })
    expect(told.server.requests).toHaveLength(1)
    const { confirmed } = await confirm([{ body: { id: 'ch_1' } }, { status: 500 }])
    expect(await confirmed).toEqual({ id: 'ch_1' })
  })

  it('a wrong code is a refusal with the gateway’s code', async () => {
    const body = { error: { code: 'incorrect_code', message: 'The code is incorrect.' } }
    const { confirmed } = await confirm([{ status: 400, body }])
    expect(await errorOf(confirmed)).toMatchObject({
      status: 400,
      errorCode: 'incorrect_code',
      outcome: 'rejected',
    })
  })

  it.each(['0', '00', ''])('an error object with the code %j proves no refusal', async (code) => {
    const server = await startServer([{ body: { error: { code, message: 'ok' } } }])
    const error = await errorOf(gatewayClient(server.url).confirm('conf_1', { otp: '123456' }))
    expect(error).toMatchObject({ code: 'api_error', outcome: 'unknown' })
  })

  it('a success status with nothing but an error is no success', async () => {
    const { confirmed } = await confirm([{ body: { error: { code: 'charge_expired', message: '' } } }])
    expect(await errorOf(confirmed)).toMatchObject({ errorCode: 'charge_expired', outcome: 'rejected' })
  })
})
