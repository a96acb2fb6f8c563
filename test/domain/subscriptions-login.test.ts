import { describe, expect, test } from 'vitest'
import { createFixedWindowLimiter } from '../../mocks/domain/limiter.ts'
import { defaultMerchant } from '../../mocks/domain/subscriptions/options.ts'
import { fixture, login, reason, value } from './subscriptions-fixture.ts'

const refreshGrant = (refreshToken: string, fields: Record<string, unknown> = {}) => ({
  grant_type: 'refresh_token',
  client_id: defaultMerchant.clientId,
  client_secret: defaultMerchant.clientSecret,
  refresh_token: refreshToken,
  ...fields,
})

describe('logging in', () => {
  test('yields a bearer token that lives for tokenTtl', async () => {
    const { clock, domain } = fixture()
    const token = value(domain.token(login()))
    expect(token).toEqual({
      token_type: 'Bearer',
      expires_in: 3600,
      access_token: expect.stringMatching(/^\w{48}$/),
      refresh_token: expect.stringMatching(/^\w{48}$/),
    })
    await clock.advance({ seconds: 3599 })
    expect(value(domain.merchant(token.access_token))).toEqual({
      clientId: 'mock-client',
      username: 'mock-user',
    })
    await clock.advance({ seconds: 1 })
    expect(reason(domain.merchant(token.access_token))).toBe('unauthorized')
  })

  test('a token that is missing or unknown is refused', () => {
    const { domain } = fixture()
    expect(reason(domain.merchant(undefined))).toBe('unauthorized')
    expect(reason(domain.merchant('made-up'))).toBe('unauthorized')
  })

  test('a wrong secret, password, username or client is refused alike; a missing field is named', () => {
    const refusals = ['client_id', 'client_secret', 'username', 'password'].map((field) => {
      const { domain } = fixture()
      expect(domain.token(login({ [field]: undefined }))).toMatchObject({
        refusal: { reason: 'invalid', field },
      })
      const answer = domain.token(login({ [field]: 'wrong' }))
      return answer.ok ? undefined : { reason: answer.refusal.reason, message: answer.refusal.message }
    })
    expect(new Set(refusals.map((refusal) => JSON.stringify(refusal))).size).toBe(1)
    expect(refusals[0]?.reason).toBe('unauthorized')
    const { domain } = fixture()
    expect(domain.token(login({ grant_type: 'client_credentials' }))).toMatchObject({
      refusal: { reason: 'invalid', field: 'grant_type' },
    })
  })

  test('no refusal quotes a credential or a token', () => {
    const { domain } = fixture()
    const secret = 'quoted-secret-7'
    const answers = [
      ...['client_id', 'client_secret', 'username', 'password', 'grant_type'].map((field) =>
        domain.token(login({ [field]: secret })),
      ),
      domain.token(refreshGrant(secret)),
      domain.merchant(secret),
      ...Array.from({ length: 7 }, () => domain.token(login({ username: secret }))),
    ]
    expect(JSON.stringify(answers)).not.toContain(secret)
    expect(JSON.stringify(answers)).not.toContain(defaultMerchant.clientSecret)
  })

  test('expire ends access tokens, revoke refresh tokens too', () => {
    const { domain } = fixture()
    const first = value(domain.token(login()))
    domain.expireTokens()
    expect(reason(domain.merchant(first.access_token))).toBe('unauthorized')
    const second = value(domain.token(refreshGrant(first.refresh_token)))
    domain.revokeTokens()
    expect(reason(domain.merchant(second.access_token))).toBe('unauthorized')
    expect(reason(domain.token(refreshGrant(second.refresh_token)))).toBe('unauthorized')
  })
})

describe('the refresh grant', () => {
  test("'rotate' gives a new refresh token, and the old one is void", () => {
    const { domain } = fixture()
    const first = value(domain.token(login()))
    const second = value(domain.token(refreshGrant(first.refresh_token)))
    expect(second.refresh_token).not.toBe(first.refresh_token)
    expect(reason(domain.token(refreshGrant(first.refresh_token)))).toBe('unauthorized')
    expect(domain.merchant(second.access_token).ok).toBe(true)
  })

  test("'reuse' keeps it and 'reject' refuses", () => {
    const reuse = fixture({ refresh: 'reuse' }).domain
    const first = value(reuse.token(login()))
    const second = value(reuse.token(refreshGrant(first.refresh_token)))
    expect(second.refresh_token).toBe(first.refresh_token)
    expect(second.access_token).not.toBe(first.access_token)
    expect(reuse.token(refreshGrant(first.refresh_token)).ok).toBe(true)
    const reject = fixture({ refresh: 'reject' }).domain
    expect(reason(reject.token(refreshGrant(value(reject.token(login())).refresh_token)))).toBe(
      'unauthorized',
    )
  })

  test('another merchant’s credentials do not refresh it', () => {
    const other = { name: 'Other', clientId: 'other', clientSecret: 'other-secret', users: [] }
    const { domain } = fixture({ merchants: [defaultMerchant, other] })
    const { refresh_token: refreshToken } = value(domain.token(login()))
    const answer = domain.token(
      refreshGrant(refreshToken, { client_id: 'other', client_secret: 'other-secret' }),
    )
    expect(reason(answer)).toBe('unauthorized')
    expect(domain.token(refreshGrant(refreshToken)).ok).toBe(true)
  })
})

describe('the lockout', () => {
  const attempt = ({ domain }: ReturnType<typeof fixture>, fields = {}) => reason(domain.token(login(fields)))
  const wrong = { password: 'wrong' }

  test('five failures in a minute lock the username for 15 minutes, right credentials and the refresh grant too', async () => {
    const all = fixture()
    const before = value(all.domain.token(login()))
    for (const fields of [wrong, { client_secret: 'wrong' }, { client_id: 'wrong' }, wrong, wrong]) {
      expect(attempt(all, fields)).toBe('unauthorized')
    }
    expect(attempt(all)).toBe('locked_out')
    expect(attempt(all, wrong)).toBe('locked_out')
    expect(reason(all.domain.token(refreshGrant(before.refresh_token)))).toBe('locked_out')
    expect(all.domain.merchant(before.access_token).ok).toBe(true)
    expect(attempt(all, { username: 'someone-else' })).toBe('unauthorized')
    await all.clock.advance({ minutes: 14, seconds: 59, milliseconds: 999 })
    expect(attempt(all)).toBe('locked_out')
    await all.clock.advance(1)
    expect(attempt(all)).toBe('accepted')
  })

  test('refused attempts do not prolong it, and it leaves no failures behind', async () => {
    const all = fixture()
    for (let index = 0; index < 5; index += 1) attempt(all, wrong)
    await all.clock.advance({ minutes: 14 })
    for (let index = 0; index < 10; index += 1) expect(attempt(all, wrong)).toBe('locked_out')
    await all.clock.advance({ minutes: 1 })
    for (let index = 0; index < 4; index += 1) expect(attempt(all, wrong)).toBe('unauthorized')
    expect(attempt(all)).toBe('accepted')
  })

  test('failures that are a minute old do not count, and a success clears the count', async () => {
    const all = fixture()
    for (let index = 0; index < 4; index += 1) attempt(all, wrong)
    await all.clock.advance({ seconds: 60 })
    attempt(all, wrong)
    expect(attempt(all)).toBe('accepted')
    for (let index = 0; index < 4; index += 1) attempt(all, wrong)
    expect(attempt(all)).toBe('accepted')
    for (let index = 0; index < 4; index += 1) attempt(all, wrong)
    expect(attempt(all)).toBe('accepted')
  })

  test('an unknown username is locked like a known one, and malformed requests do not count', () => {
    const all = fixture()
    for (let index = 0; index < 5; index += 1) attempt(all, { username: 'nobody' })
    expect(attempt(all, { username: 'nobody' })).toBe('locked_out')
    for (let index = 0; index < 9; index += 1) expect(attempt(all, { password: '' })).toBe('invalid')
    expect(attempt(all)).toBe('accepted')
  })

  test('its numbers are options, false turns it off, and reset and restore rule it', () => {
    const short = fixture({ lockout: { attempts: 1, windowSeconds: 60, durationSeconds: 60 } })
    const open = short.domain.snapshot()
    attempt(short, wrong)
    expect(attempt(short)).toBe('locked_out')
    const locked = structuredClone(short.domain.snapshot())
    short.domain.restore(open)
    expect(attempt(short)).toBe('accepted')
    short.domain.restore(locked)
    expect(attempt(short)).toBe('locked_out')
    short.domain.reset()
    expect(attempt(short)).toBe('accepted')
    const off = fixture({ lockout: false })
    for (let index = 0; index < 50; index += 1) attempt(off, wrong)
    expect(attempt(off)).toBe('accepted')
  })
})

describe('the limiter', () => {
  test('a window begins with the first call of a bucket, and refused calls do not count', () => {
    let now = 12_345
    const limiter = createFixedWindowLimiter({ limit: 2, windowMs: 60_000, now: () => now })
    expect(limiter.take('a')).toEqual({ allowed: true, limit: 2, remaining: 1, resetAt: 72_345 })
    now += 59_999
    expect(limiter.take('a')).toEqual({ allowed: true, limit: 2, remaining: 0, resetAt: 72_345 })
    expect(limiter.take('a')).toEqual({ allowed: false, limit: 2, remaining: 0, resetAt: 72_345 })
    expect(limiter.take('b').allowed).toBe(true)
    now += 1
    expect(limiter.take('a')).toEqual({ allowed: true, limit: 2, remaining: 1, resetAt: 132_345 })
    limiter.reset()
    expect(limiter.take('a').remaining).toBe(1)
    now -= 100_000
    expect(limiter.take('a').remaining).toBe(1)
  })
})
