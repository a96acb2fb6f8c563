import { describe, expect, it } from 'vitest'
import type { BehaviorName } from '../../mocks/domain/gateway/behaviors.ts'
import { testNumbers } from '../../mocks/domain/gateway/behaviors.ts'
import { CREDENTIAL, createFixture, HOUR, refusal, request, value } from './gateway-fixture.ts'

const wrong = { otp: '000000' }
const right = { otp: '123456' }

describe('a charge', () => {
  it('waits for its code, with a page whose last segment is the confirmation id', () => {
    const { charge } = createFixture()
    const body = charge(testNumbers.succeeds, 'k')
    expect(body).toEqual({
      id: expect.stringMatching(/^ch_/),
      msisdn: testNumbers.succeeds,
      amount: 2500,
      currency: 'BDT',
      status: 'pending_confirmation',
      outcome: 'PENDING',
      confirmation_id: expect.stringMatching(/^conf_/),
      confirmation_url: `https://gateway.mandatekit.test/confirm/${body.confirmation_id}`,
      created_at: '2026-11-28T12:00:00.000Z',
    })
  })

  const endings: Record<BehaviorName, [string, string]> = {
    succeeds: ['succeeded', 'SUCCEEDED'],
    insufficient_funds: ['failed', 'INSUFFICIENT_FUNDS'],
    wallet_blocked: ['failed', 'WALLET_BLOCKED'],
    retry_then_succeeds: ['pending_retry', 'RETRYING'],
    retry_then_fails: ['pending_retry', 'RETRYING'],
    stays_pending_retry: ['pending_retry', 'RETRYING'],
    expires: ['expired', 'EXPIRED'],
    succeeds_once: ['succeeded', 'SUCCEEDED'],
  }
  it.each(Object.entries(endings))(
    'of the number that %s resolves so once confirmed',
    (name, [status, outcome]) => {
      const { charge, confirm } = createFixture()
      const msisdn = testNumbers[name as BehaviorName]
      expect(confirm(charge(msisdn, 'k').confirmation_id)).toMatchObject({ status, outcome })
    },
  )

  it('of a number that is not listed succeeds, and a plus makes no difference to a listed one', () => {
    const { charge, confirm } = createFixture()
    expect(confirm(charge('8801000000000', 'a').confirmation_id).status).toBe('succeeded')
    const bare = testNumbers.wallet_blocked.slice(1)
    expect(confirm(charge(bare, 'b').confirmation_id).outcome).toBe('WALLET_BLOCKED')
  })

  it('in pending_retry resolves a retry delay later and not before', () => {
    const { gateway, charge, confirm, advance } = createFixture({ retryDelay: HOUR })
    const ids = (['retry_then_succeeds', 'retry_then_fails', 'stays_pending_retry'] as const).map((name) => {
      const { id, confirmation_id: confirmationId } = charge(testNumbers[name], name)
      confirm(confirmationId)
      return id
    })
    const statuses = () => ids.map((id) => value(gateway.status(id)).status)
    advance(HOUR - 1)
    expect(statuses()).toEqual(['pending_retry', 'pending_retry', 'pending_retry'])
    advance(1)
    expect(statuses()).toEqual(['succeeded', 'failed', 'pending_retry'])
    advance(1000 * HOUR)
    expect(statuses()).toEqual(['succeeded', 'failed', 'pending_retry'])
  })

  it('that nobody confirms expires at its time, and not when it was confirmed', () => {
    const { gateway, charge, confirm, advance } = createFixture({ confirmationTtl: HOUR })
    const first = charge(testNumbers.succeeds, 'a')
    advance(HOUR / 2)
    const second = charge(testNumbers.succeeds, 'b')
    const third = charge(testNumbers.succeeds, 'c')
    confirm(second.confirmation_id)
    advance(HOUR / 2)
    expect(gateway.charges().map(({ status }) => status)).toEqual([
      'expired',
      'succeeded',
      'pending_confirmation',
    ])
    advance(HOUR)
    expect(gateway.charges().map(({ status }) => status)).toEqual(['expired', 'succeeded', 'expired'])
    expect(refusal(gateway.confirm(first.confirmation_id, right)).reason).toBe('charge_expired')
    expect(gateway.events().filter(({ type }) => type === 'charge.expired')).toMatchObject([
      { created_at: '2026-11-28T13:00:00.000Z', data: { id: first.id, outcome: 'EXPIRED' } },
      { created_at: '2026-11-28T13:30:00.000Z', data: { id: third.id } },
    ])
  })

  it('created after the clock went back expires at its own time', () => {
    const { gateway, charge, advance, now, setNow } = createFixture({ confirmationTtl: HOUR })
    charge(testNumbers.succeeds, 'later')
    setNow(now() - 10 * HOUR)
    charge(testNumbers.succeeds, 'earlier')
    advance(HOUR)
    expect(gateway.charges().map(({ status }) => status)).toEqual(['pending_confirmation', 'expired'])
  })

  it.each([
    ['msisdn', { msisdn: 1 }],
    ['amount', { amount: '2500' }],
    ['amount', { amount: 25.5 }],
    ['amount', { amount: 1e21 }],
    ['currency', { currency: null }],
    ['redirect_uri', { redirect_uri: 'return' }],
  ])('whose %s has another type is refused and stores nothing', (field, change) => {
    const { gateway } = createFixture()
    const result = gateway.charge(CREDENTIAL, 'k', request(testNumbers.succeeds, change))
    expect(refusal(result)).toMatchObject({ reason: 'invalid', field })
    expect(gateway.charges()).toEqual([])
    expect(gateway.events()).toEqual([])
  })

  it('to an address outside the allowlist is refused, stores nothing and leaves the key free', () => {
    const { gateway } = createFixture({ redirectAllowlist: ['https://shop.example/return'] })
    const at = (address: string) =>
      gateway.charge(CREDENTIAL, 'k', request(testNumbers.succeeds, { redirect_uri: address }))
    for (const address of [
      'https://evil.example/return',
      'https://shop.example.evil.example/return',
      'http://shop.example/return',
      'https://shop.example/returned',
      'https://shop.example/return/../admin',
      'javascript:alert(1)//shop.example/return',
    ]) {
      expect(refusal(at(address)).reason, address).toBe('redirect_uri_not_allowed')
    }
    expect(gateway.charges()).toEqual([])
    expect(value(at('https://shop.example/return/here?x=1')).replayed).toBe(false)
  })
})

describe('a confirmation', () => {
  it('with a wrong code is refused alike for every number, code, state and id, and changes nothing', () => {
    const { gateway, charge, confirm } = createFixture()
    const charges = Object.entries(testNumbers).map(([name, msisdn]) => charge(msisdn, name))
    confirm(charges[0]?.confirmation_id ?? '')
    const before = gateway.snapshot()
    const refusals = new Set<string>()
    for (const id of [...charges.map((body) => body.confirmation_id), 'conf_unknown']) {
      for (const otp of [
        '',
        '1',
        '12345',
        '1234567',
        '123456 ',
        ' 123456',
        '１２３４５６',
        'x'.repeat(10_000),
      ]) {
        refusals.add(JSON.stringify(gateway.confirm(id, { otp })))
      }
    }
    expect(refusals.size).toBe(1)
    expect([...refusals].join()).not.toMatch(/\d{3,}/)
    expect(gateway.snapshot()).toEqual(before)
  })

  it('looks at the code first, then at the charge', () => {
    const { gateway, charge, confirm } = createFixture()
    const { confirmation_id: id } = charge(testNumbers.succeeds, 'k')
    confirm(id)
    expect(refusal(gateway.confirm(id, wrong)).reason).toBe('incorrect_code')
    expect(refusal(gateway.confirm(id, right)).reason).toBe('already_confirmed')
    expect(refusal(gateway.confirm('conf_unknown', right)).reason).toBe('not_found')
    expect(refusal(gateway.confirm(id, { otp: 123456 })).reason).toBe('invalid')
  })

  it('may be tried for ever, unless a number of attempts is set', () => {
    const unlimited = createFixture()
    const { confirmation_id: id } = unlimited.charge(testNumbers.succeeds, 'k')
    for (let attempt = 0; attempt < 100; attempt++) unlimited.gateway.confirm(id, wrong)
    expect(unlimited.confirm(id).status).toBe('succeeded')

    const limited = createFixture({ maxOtpAttempts: 3 })
    const other = limited.charge(testNumbers.succeeds, 'k').confirmation_id
    const answers = [1, 2, 3, 4].map(() => refusal(limited.gateway.confirm(other, wrong)))
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect(refusal(limited.gateway.confirm(other, right)).reason).toBe('charge_expired')
  })
})
