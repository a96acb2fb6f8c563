import { describe, expect, it } from 'vitest'
import type { Verdict } from '../../src/contract/verdict.ts'
import { nextStep } from '../../src/index.ts'
import { errorOf, gatewayClient, subscriptionsClient, TOKEN } from '../support/clients.ts'
import { FOREIGN, FOREIGN_REFUSALS } from '../support/foreign-refusals.ts'
import { once } from '../support/open-clients.ts'
import { skippingClock } from '../support/skipping-clock.ts'

/** Both clients on a `fetch` that gives this response to every request, or to every request but a login. */
const clientsOf = (status: number, body: unknown, atLogin = false) => {
  const token = { token_type: 'Bearer', expires_in: 3600, access_token: TOKEN }
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const fetch = async (url: string) =>
    url.endsWith('/oauth/token') && !atLogin ? Response.json(token) : new Response(text, { status })
  // A second login after a rejected one waits for seconds.
  const options = { fetch, ...once, clock: skippingClock() }
  return {
    subscriptions: subscriptionsClient('https://s.example', options),
    gateway: gatewayClient('https://g.example', options),
  }
}

/** The errors of an operation of area S, of area G, and of a login. */
const errorsOf = async (status: number, body: unknown) => {
  const { subscriptions, gateway } = clientsOf(status, body)
  const login = clientsOf(status, body, true).subscriptions.login()
  const ended = [subscriptions.details('sub-1'), gateway.status('ch_1'), login]
  return Promise.all(ended.map((call) => errorOf(call)))
}

describe('case 92: a refusal of a proxy or a framework is not a verdict of the API', () => {
  it.each(FOREIGN_REFUSALS)('%s (HTTP %i)', async (_, status, body, expected = FOREIGN) => {
    const errors = await errorsOf(status, body)
    expect(errors.map((error) => 'verdict' in error && error.verdict)).toEqual(expected)
    const [, , login] = errors
    expect(login?.code === 'locked_out').toBe(expected[2] === 'locked')
    if (expected === FOREIGN) expect(login?.retryable).toBe(true)
    // No job fails for a cause that it shares with all jobs.
    const isShared = [302, 403, 404, 405, 407, 451].includes(status) && expected === FOREIGN
    const [s, g] = errors.map((error) => nextStep(error))
    const step = { step: 'pause-queue', afterMs: 60_000, reason: 'not-available' }
    if (isShared) expect([s, g]).toEqual([step, step])
  })
})

const s = (errorCode: unknown, errorMessage?: string) => ({ errorCode, errorMessage })
const g = (code: unknown, message = 'no') => ({ error: { code, message } })

describe('a refusal in the API’s own shape has a verdict', () => {
  it.each<[number, unknown, Verdict]>([
    [404, s('02', 'Subscription not found.'), 'not-found'],
    [404, s('E-9', 'No more records'), 'not-found'],
    [404, s('404', 'Not Found'), 'not-found'],
    [200, s('02', 'No such subscription'), 'not-found'],
    [200, s('NOT_FOUND', ''), 'not-found'],
    [400, s('05', 'This subscription does not exist'), 'not-found'],
    [410, s('05', 'The subscription could not be found'), 'not-found'],
    [422, s('unknown_subscription', ''), 'not-found'],
    [404, { ...s('02', 'Subscription not found.'), path: null, status: null }, 'not-found'],
    [200, s('99', 'Internal error'), 'refused'],
    [200, s('99', 'Unknown error'), 'refused'],
    [400, s('01', 'The request has an unknown field.'), 'refused'],
    [422, s('account_suspended', 'The account is suspended'), 'refused'],
    [404, s('02', 'The access token is invalid'), 'refused'],
    [404, s('07', 'You are not authorized to read this subscription'), 'refused'],
    [404, s('quota', 'Not found within your limit'), 'refused'],
    [404, s('02', 'Route not found'), 'refused'],
    [404, s('02', 'Merchant not found'), 'refused'],
    [403, s('02', 'Subscription not found.'), 'refused'],
    [500, s('02', 'Subscription not found.'), 'refused'],
    [404, s('02'), 'refused'],
    [401, s('02', 'Subscription not found.'), 'rejected-credentials'],
    [401, '', 'rejected-credentials'],
    [429, s('02', 'Subscription not found.'), 'rate-limited'],
    [404, { ...s('02', 'Subscription not found.'), statusCode: 404 }, 'somebody-else'],
    [404, { errorMessage: 'Subscription not found.' }, 'somebody-else'],
    [404, [s('02', 'Subscription not found.')], 'somebody-else'],
  ])('in area S (HTTP %i, %j): %s', async (status, body, verdict) => {
    expect((await errorsOf(status, body))[0]).toMatchObject({ verdict })
  })

  it.each<[number, unknown, Verdict]>([
    [404, g('not_found'), 'not-found'],
    [404, g('no_such_charge', ''), 'not-found'],
    [400, g('charge_unknown'), 'not-found'],
    [200, g('charge_not_found'), 'not-found'],
    [404, g('gone', 'The charge was not found'), 'refused'],
    [404, g('token_not_found'), 'refused'],
    [404, g('not_found', 'The API key is unknown'), 'refused'],
    [403, g('not_found'), 'refused'],
    [404, { error: { code: 'not_found' } }, 'not-found'],
    [404, g('404', 'not found'), 'somebody-else'],
    [404, g(404, 'not found'), 'somebody-else'],
    [404, { ...g('not_found'), statusCode: 404 }, 'somebody-else'],
    [404, s('02', 'Charge not found'), 'somebody-else'],
    [401, '', 'rejected-credentials'],
  ])('in area G (HTTP %i, %j): %s', async (status, body, verdict) => {
    expect((await errorsOf(status, body))[1]).toMatchObject({ verdict })
  })

  it.each<[number, unknown, Verdict]>([
    [403, s('17', 'locked'), 'locked'],
    [403, s('17'), 'locked'],
    [400, s('17', 'wrong password'), 'rejected-credentials'],
    [200, s('07', 'wrong password'), 'rejected-credentials'],
    [200, { error: 'invalid_grant' }, 'rejected-credentials'],
    [401, '<h1>Unauthorized</h1>', 'rejected-credentials'],
    [200, s('503', 'try later'), 'somebody-else'],
    [200, s('500', ''), 'somebody-else'],
    [404, s('17', 'Not found'), 'somebody-else'],
    [500, s('17', 'broken'), 'somebody-else'],
    [403, '', 'somebody-else'],
    [403, g('forbidden'), 'somebody-else'],
    [429, s('17', 'slow down'), 'rate-limited'],
  ])('case 93: at the token endpoint (HTTP %i, %j): %s', async (status, body, verdict) => {
    const login = (await errorsOf(status, body))[2]
    expect(login).toMatchObject({ verdict, phase: 'login', operation: 'subscriptions.login' })
    expect(login?.code === 'locked_out').toBe(verdict === 'locked')
    expect(login?.retryable).toBe(verdict === 'somebody-else' || verdict === 'rate-limited')
  })

  it('but a 401 for an operation without credentials is a mere refusal', async () => {
    expect(await errorOf(clientsOf(401, '').gateway.reference())).toMatchObject({ verdict: 'refused' })
  })
})
