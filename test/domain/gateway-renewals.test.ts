import { describe, expect, it } from 'vitest'
import { testNumbers } from '../../mocks/domain/gateway/behaviors.ts'
import { CREDENTIAL, createFixture, HOUR, refusal, request, value } from './gateway-fixture.ts'

describe('a renewal', () => {
  const mandate = (fixture: ReturnType<typeof createFixture>, msisdn: string = testNumbers.succeeds) =>
    fixture.confirm(fixture.charge(msisdn, 'consent').confirmation_id)

  it('is a new charge, resolved at once, and the mandate stays as it was', () => {
    const fixture = createFixture()
    const consent = mandate(fixture)
    const renewal = fixture.renew(consent.id, 'cycle-1')
    expect(renewal).toMatchObject({ status: 'succeeded', msisdn: consent.msisdn, amount: consent.amount })
    expect(renewal.id).not.toBe(consent.id)
    expect(value(fixture.gateway.status(consent.id))).toEqual(consent)
  })

  it('of a number that is to be retried is pending_retry and resolves later', () => {
    const fixture = createFixture()
    const consent = mandate(fixture)
    value(fixture.gateway.setBehavior(testNumbers.succeeds, 'retry_then_fails'))
    const renewal = fixture.renew(consent.id, 'cycle-1')
    expect(renewal.status).toBe('pending_retry')
    fixture.advance(24 * HOUR)
    expect(value(fixture.gateway.status(renewal.id))).toMatchObject({
      status: 'failed',
      outcome: 'INSUFFICIENT_FUNDS',
    })
  })

  it('that fails is repeated by its key and tried again by a new one, however much later', () => {
    const fixture = createFixture()
    const consent = mandate(fixture, testNumbers.succeeds_once)
    const failed = fixture.renew(consent.id, 'cycle-1')
    expect(failed.status).toBe('failed')
    expect(fixture.renew(consent.id, 'cycle-1')).toEqual(failed)
    const second = fixture.renew(consent.id, 'cycle-1-attempt-2')
    expect(second.id).not.toBe(failed.id)
    fixture.advance(15 * 24 * HOUR)
    expect(fixture.renew(consent.id, 'cycle-1')).toEqual(failed)
    expect(fixture.gateway.charges()).toHaveLength(3)
  })

  it('is refused when the mandate differs, is unknown or has not succeeded, and stores nothing', () => {
    const fixture = createFixture()
    const { gateway } = fixture
    const pending = fixture.charge(testNumbers.succeeds, 'a')
    const reasonOf = (id: string, mandateId: unknown) =>
      refusal(gateway.renew(CREDENTIAL, 'k', id, { mandate_id: mandateId })).reason
    expect(reasonOf(pending.id, 'ch_other')).toBe('mandate_mismatch')
    expect(reasonOf(pending.id, undefined)).toBe('invalid')
    expect(reasonOf('ch_unknown', 'ch_unknown')).toBe('not_found')
    expect(reasonOf(pending.id, pending.id)).toBe('mandate_not_active')
    fixture.confirm(pending.confirmation_id)
    expect(fixture.renew(pending.id, 'k').status).toBe('succeeded')
  })
})

describe('an idempotency key', () => {
  it('that is missing or blank is refused', () => {
    const { gateway } = createFixture()
    for (const key of [undefined, '', ' \t']) {
      expect(refusal(gateway.charge(CREDENTIAL, key, request('1'))).reason).toBe('missing_idempotency_key')
    }
  })

  it('gives the first answer unchanged, whatever happened since and whatever the body says', () => {
    const { gateway, charge, confirm } = createFixture()
    const first = charge(testNumbers.succeeds, 'k')
    confirm(first.confirmation_id)
    const repeated = value(
      gateway.charge(CREDENTIAL, 'k', request(testNumbers.wallet_blocked, { amount: 1 })),
    )
    expect(repeated.replayed).toBe(true)
    expect(JSON.stringify(repeated.body)).toBe(JSON.stringify(first))
    expect(gateway.charges()).toHaveLength(1)
  })

  it('cannot be changed through an answer that was given', () => {
    const { gateway, charge } = createFixture()
    const first = charge(testNumbers.succeeds, 'k')
    Object.assign(first, { status: 'failed' })
    expect(charge(testNumbers.succeeds, 'k').status).toBe('pending_confirmation')
    expect(gateway.charges()[0]?.status).toBe('pending_confirmation')
  })

  it('counts within its credential, route and charge', () => {
    const fixture = createFixture({ apiKeys: ['one', 'two'] })
    const { gateway } = fixture
    const credentials = ['one', 'two'].map((key) => value(gateway.authenticate(key)).credential)
    const charges = credentials.map((credential) => value(gateway.charge(credential, 'k', request('1'))).body)
    for (const body of charges) fixture.confirm(body.confirmation_id)
    const renewals = charges.map((body) => fixture.renew(body.id, 'k'))
    expect(new Set([...charges, ...renewals].map(({ id }) => id)).size).toBe(4)
  })

  it('with another body is refused when keyReuse says so, and not when the body means the same', () => {
    const { gateway, charge } = createFixture({ keyReuse: 'reject' })
    const first = charge(testNumbers.succeeds, 'k')
    for (const change of [{ amount: 2 }, { currency: 'USD' }, { redirect_uri: 'https://shop.example/' }]) {
      const result = gateway.charge(CREDENTIAL, 'k', request(testNumbers.succeeds, change))
      expect(refusal(result).reason).toBe('idempotency_key_reused')
    }
    expect(charge(testNumbers.succeeds, 'k')).toEqual(first)
  })

  it('is forgotten after keyTtl, when one is set', () => {
    const { gateway, charge, advance } = createFixture({ keyTtl: HOUR })
    const first = charge(testNumbers.succeeds, 'k')
    advance(HOUR - 1)
    expect(charge(testNumbers.succeeds, 'k').id).toBe(first.id)
    advance(1)
    expect(charge(testNumbers.succeeds, 'k').id).not.toBe(first.id)
    expect(gateway.charges()).toHaveLength(2)
  })

  it('is free again after a reset, and so is everything but what is configured', () => {
    const { gateway, charge, confirm } = createFixture({ redirectAllowlist: ['https://shop.example'] })
    const first = charge(testNumbers.succeeds_once, 'k')
    confirm(first.confirmation_id)
    value(gateway.setBehavior('+8801', 'wallet_blocked'))
    gateway.reset()
    expect(gateway.charges()).toEqual([])
    expect(gateway.events()).toEqual([])
    const second = charge(testNumbers.succeeds_once, 'k')
    expect(second.id).not.toBe(first.id)
    expect(confirm(second.confirmation_id).status).toBe('succeeded')
    expect(confirm(charge('+8801', 'other').confirmation_id).outcome).toBe('WALLET_BLOCKED')
    const elsewhere = request('1', { redirect_uri: 'https://evil.example' })
    expect(refusal(gateway.charge(CREDENTIAL, 'x', elsewhere)).reason).toBe('redirect_uri_not_allowed')
    gateway.restart()
    expect(confirm(charge('+8801', 'other').confirmation_id).outcome).toBe('SUCCEEDED')
  })
})
