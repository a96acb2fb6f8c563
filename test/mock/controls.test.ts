import { describe, expect, test } from 'vitest'
import { createMock, MockRefusedError } from '../../mocks/core.ts'
import { START } from './open.ts'

const request = { start: '2026-12-01', end: '2027-12-01', cycle: 'DAILY', amount: '5' } as const

const open = (authorizedAt?: false) => {
  const mock = createMock({ clock: START })
  const seed = { request, invoiceId: 'invoice', subscriptionId: 'subscription' }
  mock.add({ subscriptions: [authorizedAt === undefined ? seed : { ...seed, authorizedAt }] })
  const statuses = async (days: number) => {
    await mock.clock.advance({ days })
    return mock.state.payments('subscription').map(({ status }) => status.split('_')[0])
  }
  return { mock, payer: mock.payer, statuses }
}

describe('the payer', () => {
  test('pays as scripted before the authorization on the page', async () => {
    const { mock, payer, statuses } = open(false)
    payer.setPayments('invoice', ['fail'])
    const page = await mock.fetch(`${mock.clientOptions.subscriptions.baseUrl}/authorize/invoice`, {
      method: 'POST',
      body: new URLSearchParams({ decision: 'authorize' }),
    })
    expect(page.status).toBe(303)
    expect(await statuses(2)).toEqual(['FAILED', 'SUCCEEDED'])
  })

  test('pays as scripted last in the middle of a subscription', async () => {
    const { payer, statuses } = open()
    await statuses(1)
    payer.setPayments('subscription', ['succeed', 'fail'])
    payer.setPayments('subscription', ['fail'])
    expect(await statuses(2)).toEqual(['SUCCEEDED', 'FAILED', 'SUCCEEDED'])
  })

  test('pays as the authorization says if it has a script of its own, and returns what the page shows', async () => {
    const { payer, statuses } = open(false)
    payer.setPayments('invoice', ['fail'])
    expect(payer.authorize('invoice', { payments: ['succeed', 'fail'] })).toMatchObject({
      ...request,
      invoiceId: 'invoice',
      merchant: 'Example Shop',
      nextPayments: [1, 2, 3, 4, 5].map((day) => `2026-12-0${day}`),
      status: 'SUCCEEDED',
    })
    expect(await statuses(2)).toEqual(['SUCCEEDED', 'FAILED'])
  })

  test.each([{ payments: ['succeeds'] }, { payments: 'fail' }, { payment: ['fail'] }, ['fail']])(
    'refuses a misspelled script, and authorizes nothing: %o',
    (options) => {
      const { mock, payer } = open(false)
      expect(() => payer.authorize('invoice', options as object)).toThrow(TypeError)
      expect(() => payer.setPayments('invoice', 'fail' as never)).toThrow(TypeError)
      expect(mock.state.subscriptions()[0]?.requestStatus).toBe('INITIALIZED')
    },
  )

  test('refuses a script without payments to come', () => {
    const { payer } = open(false)
    expect(() => payer.setPayments('nobody', ['fail'])).toThrow(MockRefusedError)
    payer.decline('invoice')
    expect(() => payer.decline('invoice')).toThrow(MockRefusedError)
    expect(() => payer.setPayments('invoice', ['fail'])).toThrow(MockRefusedError)
  })
})

describe('add', () => {
  const [later, earlier] = ['2026-12-02T06:00:00Z', '2026-12-01T04:00:00Z']
  test.each<[named: string, subscription: object, more?: object]>([
    ['end', { request: { ...request, end: '2026-11-01' } }],
    ['nobody', { request: { ...request, clientID: 'nobody' } }],
    ['invoice', { invoiceId: 'invoice' }],
    ['subscription', { subscriptionId: 'subscription' }],
    ['authorizedAt', { authorizedAt: later }],
    ['createdAt', { createdAt: '2026-12-01T05:00:00Z', authorizedAt: earlier }],
    ['nobody', {}, { tokens: [{ accessToken: 't', clientId: 'nobody' }] }],
  ])('refuses all seeds if one is impossible, and names %s: %o %o', (named, seed, more = {}) => {
    const { mock } = open()
    const add = () => mock.add({ subscriptions: [{ request }, { request, ...seed }], ...more })
    expect(add).toThrow(named)
    expect(mock.state.subscriptions()).toHaveLength(1)
    mock.add({ subscriptions: [{ request }] })
    expect(mock.state.subscriptions()).toHaveLength(2)
  })

  test('creates a seed no later than its authorization, with the payments since', () => {
    const { mock } = open()
    const authorizedAt = '2026-11-20T06:00:00Z'
    mock.add({ subscriptions: [{ request: { ...request, start: '2026-11-20' }, authorizedAt }] })
    expect(mock.state.subscriptions()[1]?.createdAt).toBe(Date.parse(authorizedAt))
    expect(mock.state.payments()[0]?.dueDate).toBe('2026-11-20')
  })
})

test('a request that has expired stays expired when the clock is set back, and one that has not can still be authorized', async () => {
  const { mock } = open()
  const [one] = mock.add({ subscriptions: [{ request, authorizedAt: false }] })
  await mock.clock.advance({ hours: 23 })
  const [other] = mock.add({ subscriptions: [{ request, authorizedAt: false }] })
  await mock.clock.advance({ hours: 2 })
  await mock.clock.set(START)
  const statuses = mock.state.subscriptions().map(({ requestStatus }) => requestStatus)
  expect(statuses.slice(-2)).toEqual(['EXPIRED', 'INITIALIZED'])
  expect(() => mock.payer.authorize(one?.invoiceId ?? '')).toThrow('EXPIRED')
  expect(mock.payer.authorize(other?.invoiceId ?? '')).toMatchObject({ status: 'SUCCEEDED' })
})
