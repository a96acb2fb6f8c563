import { describe, expect, it } from 'vitest'
import { testNumbers } from '../../mocks/domain/gateway/behaviors.ts'
import { CREDENTIAL, createFixture, HOUR, refusal, request, value } from './gateway-fixture.ts'

describe('strict rules', () => {
  const strict = () => createFixture({}, 'strict')

  it.each([
    ['msisdn', { msisdn: 'abc' }],
    ['amount', { amount: 0 }],
    ['currency', { currency: 'bdt' }],
    ['currency', { currency: 'ZZZ' }],
    ['note', { note: 'x' }],
    ['msisdn', { msisdn: '+8801711111111' }],
  ])('refuse a charge for its %s', (field, change) => {
    const { gateway } = strict()
    const result = gateway.charge(CREDENTIAL, 'k', request(testNumbers.succeeds, change))
    expect(refusal(result)).toMatchObject({ reason: 'invalid', field })
    expect(createFixture().gateway.charge(CREDENTIAL, 'k', request(testNumbers.succeeds, change)).ok).toBe(
      true,
    )
  })

  it('refuse a reused key with another body, and the renewal of a renewal', () => {
    const fixture = strict()
    const consent = fixture.confirm(fixture.charge(testNumbers.succeeds, 'k').confirmation_id)
    const changed = fixture.gateway.charge(CREDENTIAL, 'k', request(testNumbers.succeeds, { amount: 1 }))
    expect(refusal(changed).reason).toBe('idempotency_key_reused')
    const renewal = fixture.renew(consent.id, 'k')
    const again = fixture.gateway.renew(CREDENTIAL, 'k', renewal.id, { mandate_id: renewal.id })
    expect(refusal(again).reason).toBe('mandate_not_active')
    const lenient = createFixture()
    const mandate = lenient.confirm(lenient.charge(testNumbers.succeeds, 'k').confirmation_id)
    expect(lenient.renew(lenient.renew(mandate.id, 'k').id, 'k').status).toBe('succeeded')
  })

  it('accept a number whose behavior was set', () => {
    const { gateway, charge } = strict()
    value(gateway.setBehavior('8801711111111', 'succeeds'))
    expect(charge('+8801711111111', 'k').status).toBe('pending_confirmation')
  })
})

describe('events, seeds and snapshots', () => {
  it('tell the story of a charge in order, each with the charge as it was', () => {
    const { gateway, charge, confirm, renew, advance } = createFixture()
    const { id } = confirm(charge(testNumbers.succeeds, 'k').confirmation_id)
    value(gateway.setBehavior(testNumbers.succeeds, 'retry_then_succeeds'))
    renew(id, 'r')
    advance(24 * HOUR)
    expect(gateway.events().map(({ type, data }) => `${type} ${data.status}`)).toEqual([
      'charge.created pending_confirmation',
      'charge.confirmed pending_confirmation',
      'charge.succeeded succeeded',
      'charge.renewed pending_retry',
      'charge.pending_retry pending_retry',
      'charge.succeeded succeeded',
    ])
    expect(new Set(gateway.events().map((event) => event.id)).size).toBe(6)
    expect(gateway.events().at(-1)?.created_at).toBe('2026-11-29T12:00:00.000Z')
  })

  it('start from given charges, which fall due like others, end with a reset and are back after a restart', () => {
    const { gateway, renew, advance, now, setNow } = createFixture({
      charges: [
        { id: 'ch_mandate', msisdn: '+8801', amount: 1, currency: 'BDT' },
        {
          id: 'ch_open',
          confirmation_id: 'conf_open',
          msisdn: '+8801',
          amount: 1,
          currency: 'BDT',
          status: 'pending_confirmation',
          created_at: '2026-11-28T00:00:00Z',
        },
      ],
    })
    expect(renew('ch_mandate', 'k').status).toBe('succeeded')
    advance(12 * HOUR)
    expect(value(gateway.status('ch_open')).status).toBe('expired')
    gateway.reset()
    expect(gateway.charges()).toEqual([])
    setNow(now() - 12 * HOUR)
    gateway.restart()
    expect(gateway.charges().map(({ id, status }) => `${id} ${status}`)).toEqual([
      'ch_mandate succeeded',
      'ch_open pending_confirmation',
    ])
  })

  it('refuse a configuration that cannot be', () => {
    expect(() => createFixture({ redirectAllowlist: ['shop'] })).toThrow(
      'Option gateway.redirectAllowlist[0] must be an absolute URL, not "shop".',
    )
    const seed = { msisdn: '1', amount: 1, currency: 'BDT' }
    expect(() => createFixture({ charges: [{ ...seed, id: 'x' }] })).toThrow(/ch_/)
    expect(() => createFixture({ charges: [{ ...seed, created_at: 'soon' }] })).toThrow(/created_at/)
    expect(() =>
      createFixture({
        charges: [
          { ...seed, id: 'ch_1' },
          { ...seed, id: 'ch_1' },
        ],
      }),
    ).toThrow(/ch_1/)
    expect(refusal(createFixture().gateway.setBehavior('1', 'toString')).reason).toBe('invalid')
  })

  it('come back from a snapshot with everything that was still to fall due', () => {
    const fixture = createFixture()
    const { gateway, charge, confirm, advance, now, setNow } = fixture
    const waiting = charge(testNumbers.retry_then_succeeds, 'a')
    confirm(waiting.confirmation_id)
    const open = charge(testNumbers.succeeds, 'b')
    const snapshot = gateway.snapshot()
    const then = now()
    const history = () => JSON.stringify([gateway.charges(), gateway.events()])
    advance(24 * HOUR)
    const firstTime = history()
    gateway.reset()
    setNow(then)
    gateway.restore(snapshot)
    expect(value(gateway.status(open.id)).status).toBe('pending_confirmation')
    expect(charge(testNumbers.succeeds, 'b').id).toBe(open.id)
    advance(24 * HOUR)
    expect(history()).toBe(firstTime)
  })

  it.each([
    ['the clock first', true],
    ['the clock last', false],
  ])(
    'come back together with their clock, in whatever order, and leave no entry behind (%s)',
    (_, clockFirst) => {
      const fixture = createFixture({ confirmationTtl: HOUR })
      const { gateway, timeline, charge, confirm, advance, now, setNow } = fixture
      const start = now()
      const first = charge(testNumbers.succeeds, 'a')
      advance(HOUR / 2)
      const second = charge(testNumbers.succeeds, 'b')
      confirm(first.confirmation_id)
      const then = now()
      for (let round = 0; round < 5; round++) {
        const saved = gateway.snapshot()
        const entries = timeline.entries()
        advance(HOUR)
        expect(value(gateway.status(second.id)).status).toBe('expired')
        setNow(then)
        if (clockFirst) timeline.replace(entries)
        gateway.restore(saved)
        if (!clockFirst) timeline.replace(entries)
        expect(value(gateway.status(second.id)).status).toBe('pending_confirmation')
      }
      advance(2 * HOUR)
      expect(value(gateway.status(second.id)).status).toBe('expired')
      expect(timeline.entries()).toEqual([])
      expect(now()).toBe(start + 2.5 * HOUR)
    },
  )

  it('list every behavior in the reference table, with what was set at run time', () => {
    const { gateway } = createFixture()
    value(gateway.setBehavior(testNumbers.succeeds, 'wallet_blocked'))
    value(gateway.setBehavior('8801', 'expires'))
    const { otp, test_numbers: rows } = gateway.reference()
    expect(otp).toBe('123456')
    expect(rows).toHaveLength(Object.keys(testNumbers).length + 1)
    expect(rows[0]).toMatchObject({ msisdn: testNumbers.succeeds, outcome: 'WALLET_BLOCKED' })
    expect(rows.at(-1)).toMatchObject({ msisdn: '+8801', behavior: 'expires' })
  })

  it('accept configured API keys alone, and never show one', () => {
    const { gateway } = createFixture({ apiKeys: ['secret-one'] })
    expect(value(gateway.authenticate('secret-one')).credential).not.toContain('secret')
    for (const key of [undefined, '', 'secret-two', 'toString']) {
      expect(refusal(gateway.authenticate(key)).reason).toBe('unauthorized')
    }
  })
})
