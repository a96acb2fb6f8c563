import { describe, expect, test } from 'vitest'
import { createMock, MockRefusedError } from '../../mocks/core.ts'

const REQUEST = { start: '2026-12-01', end: '2027-12-01', cycle: 'DAILY', amount: '5' } as const

const open = () => {
  const mock = createMock({ clock: '2026-12-01T06:00:00Z' })
  mock.add({ subscriptions: [{ request: REQUEST, invoiceId: 'invoice', authorizedAt: false }] })
  return mock
}

describe('what a test asks of a mock', () => {
  test.each<[object, RegExp]>([
    [
      { payments: ['succeeds'] },
      /payer\.authorize: options\.payments\[0\] must be "succeed" or "fail", not "succeeds"/,
    ],
    [{ payments: 'fail' }, /payments must be a list/],
    [
      { payment: ['fail'] },
      /options\.payment does not exist; there are payments, such as .*"succeed", "fail"/,
    ],
    [['fail'], /options must be an object such as .*"succeed", "fail".*, not a list\.$/],
  ])('a misspelled script is refused, and authorizes nothing: %o', (options, words) => {
    const mock = open()
    expect(() => mock.payer.authorize('invoice', options)).toThrow(words)
    expect(() => mock.payer.authorize('invoice', options)).toThrow(TypeError)
    expect(mock.state.subscriptions()[0]?.requestStatus).toBe('INITIALIZED')
  })

  test.each<[unknown, string]>([
    [undefined, 'nothing'],
    [null, 'null'],
    ['https://mock.example/authorize/invoice', 'a URL'],
    [new URL('https://mock.example/authorize/invoice'), 'a URL'],
    [{ invoiceID: 'invoice' }, 'an object'],
    [5, 'a number'],
  ])('what is not an identifier is refused by its kind, and says what to give: %o', (given, kind) => {
    const { payer } = open()
    const words = `the first argument must be the invoiceID of a subscription request, not ${kind}.`
    expect(() => payer.authorize(given as string)).toThrow(new TypeError(`payer.authorize: ${words}`))
    expect(() => payer.decline(given as string)).toThrow(new TypeError(`payer.decline: ${words}`))
    expect(() => payer.confirm(given as string)).toThrow(`confirmation_id of a charge, not ${kind}`)
  })

  test('the id of a charge confirms nothing, and the refusal says what does', () => {
    const mock = createMock({
      gateway: { charges: [{ id: 'ch_1', msisdn: '+1', amount: 1, currency: 'BDT' }] },
    })
    expect(() => mock.payer.confirm('ch_1')).toThrow(/id of a charge: give its confirmation_id/)
    expect(() => mock.payer.confirm('nobody')).toThrow(MockRefusedError)
    expect(() => mock.payer.confirm('nobody')).not.toThrow(/id of a charge/)
  })

  test('a reason that is a sentence ends in one full stop', () => {
    expect(() => createMock({ clock: 'yesterday' })).toThrow(/[^.]\.$/)
  })

  test('a behavior is set for a number that is text', () => {
    expect(() => open().payer.setBehavior(8801 as never, 'succeeds')).toThrow(/msisdn must be text/)
    expect(() => open().payer.setBehavior('+1', 'explodes' as never)).toThrow(MockRefusedError)
  })

  test.each<[object, RegExp]>([
    [{ subscription: [] }, /add: seeds\.subscription does not exist; there are subscriptions, tokens/],
    [
      { subscriptions: [{ request: REQUEST }, { request: { ...REQUEST, start: '2026-11-31' } }] },
      /subscriptions\[1\]\.request\.start/,
    ],
    [
      { subscriptions: [{ request: REQUEST }, { request: { ...REQUEST, end: '2026-11-01' } }] },
      /end of a seed/,
    ],
    [
      { subscriptions: [{ request: REQUEST }, { request: REQUEST, invoiceId: 'invoice' }] },
      /"invoice" exists already/,
    ],
    [
      { subscriptions: ['a', 'a'].map((subscriptionId) => ({ request: REQUEST, subscriptionId })) },
      /"a" exists already/,
    ],
    [
      { subscriptions: [{ request: REQUEST }, { request: REQUEST, authorizedAt: '2026-12-02T06:00:00Z' }] },
      /authorizedAt of a seed must not be after the mock’s time/,
    ],
    [
      {
        subscriptions: [
          { request: REQUEST, createdAt: '2026-12-02T06:00:00Z', authorizedAt: false as const },
        ],
      },
      /createdAt of a seed must not be after the mock’s time/,
    ],
    [
      {
        subscriptions: [
          { request: REQUEST, createdAt: '2026-12-01T05:00:00Z', authorizedAt: '2026-12-01T04:00:00Z' },
        ],
      },
      /authorizedAt of a seed must not be before its createdAt/,
    ],
    [{ subscriptions: [{ request: REQUEST }], tokens: [{ accessToken: 't', clientId: 'nobody' }] }, /nobody/],
    [
      { subscriptions: [{ request: REQUEST }], tokens: [{ accessToken: 't', username: 'nobody' }] },
      /no user "nobody"/,
    ],
  ])('seeds of which one is impossible are refused as a whole: %o', (seeds, words) => {
    const mock = open()
    expect(() => mock.add(seeds)).toThrow(words)
    expect(mock.state.subscriptions()).toHaveLength(1)
    mock.add({ subscriptions: [{ request: REQUEST }] })
    expect(mock.state.subscriptions()).toHaveLength(2)
  })

  test('a seed that was authorized earlier was created no later than that', () => {
    const mock = open()
    const authorizedAt = '2026-11-20T06:00:00Z'
    mock.add({ subscriptions: [{ request: { ...REQUEST, start: '2026-11-20' }, authorizedAt }] })
    expect(mock.state.subscriptions()[1]?.createdAt).toBe(Date.parse(authorizedAt))
    expect(mock.state.payments()[0]?.dueDate).toBe('2026-11-20')
  })

  test.each<[unknown, RegExp]>([
    [null, /length of time/],
    ['1h', /length of time/],
    [{ days: '1' }, /"days".*number/],
    [{ days: -1 }, /from 0/],
    [{ days: 1e9 }, /275760/],
    [Number.POSITIVE_INFINITY, /275760/],
  ])('a move of the clock that cannot be leaves it where it is: %o', async (duration, words) => {
    const mock = open()
    await expect(mock.clock.advance(duration as number)).rejects.toThrow(words)
    expect(mock.clock.now()).toBe(Date.parse('2026-12-01T06:00:00Z'))
  })

  test.each([null, true, '2026-12-01T06:00:00', '2026-11-31T06:00:00Z', 8.7e15, new Date(Number.NaN)])(
    'a time that is none leaves the clock where it is: %o',
    async (time) => {
      const mock = open()
      await expect(mock.clock.set(time as number)).rejects.toThrow(RangeError)
      expect(mock.clock.now()).toBe(Date.parse('2026-12-01T06:00:00Z'))
    },
  )
})
