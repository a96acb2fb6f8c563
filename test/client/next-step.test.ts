import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { monthlyDueDate, nextStep } from '../../src/index.ts'
import { CHARGE_REQUEST } from '../support/bodies.ts'
import { errorOf } from '../support/clients.ts'
import type { Call } from '../support/open-clients.ts'
import { calls, failureOf, once, openClients } from '../support/open-clients.ts'
import type { Script } from '../support/scripted-server.ts'
import { api, merchant, useTokenServer } from '../support/token-set-up.ts'

const lost = { status: 502 }
const refused = { status: 422, body: { errorCode: '01', error: { code: 'no', message: 'no' } } }
const RAW = { method: 'POST', path: '/refunds' } as const
const ownKey: Call = ({ gateway }) => gateway.charge(CHARGE_REQUEST, { idempotencyKey: 'order-1', ...once })

describe('nextStep', () => {
  it.each<[string, Call, Script, object]>([
    ['a lost charge', ownKey, lost, { step: 'retry', afterMs: 30_000, idempotencyKey: 'order-1' }],
    ['a charge whose key is in use', ownKey, { status: 409 }, { step: 'retry', idempotencyKey: 'order-1' }],
    ['a charge behind a page', ownKey, { body: '<p>hi' }, { step: 'retry', idempotencyKey: 'order-1' }],
    [
      'a lost charge with a generated key',
      calls.charge,
      lost,
      { step: 'retry', idempotencyKey: expect.any(String) },
    ],
    ['a refused charge', ownKey, refused, { step: 'fail' }],
    [
      'a lost read',
      calls.status,
      { status: 503, headers: { 'retry-after': '40' } },
      { step: 'retry', afterMs: 40_000 },
    ],
    ['an unreadable read', calls.status, { body: '<p>hi' }, { step: 'fail' }],
    ['a lost subscribe', calls.subscribe, lost, { step: 'find-out', how: 'subscribe-again' }],
    ['a lost cancel', calls.cancel, lost, { step: 'find-out', how: 'read-subscription' }],
    ['a lost confirm', calls.confirm, lost, { step: 'find-out', how: 'read-charge' }],
    ['a lost reset', calls.reset, lost, { step: 'find-out', how: 'read-state' }],
    ['a lost request', ({ gateway }) => gateway.request(RAW), lost, { step: 'find-out', how: 'read-state' }],
    [
      'a lost request with a key',
      ({ gateway }) => gateway.request({ ...RAW, idempotencyKey: 'r1' }),
      lost,
      { step: 'retry', idempotencyKey: 'r1' },
    ],
    ['a refused request', ({ gateway }) => gateway.request(RAW), refused, { step: 'fail' }],
    ['a refused subscribe', calls.subscribe, refused, { step: 'fail' }],
    ['a 429', ownKey, { status: 429 }, { step: 'pause-queue', afterMs: 60_000, reason: 'rate-limited' }],
    [
      'a 429 with a time',
      ownKey,
      { status: 429, headers: { 'retry-after': '90' } },
      { step: 'pause-queue', afterMs: 90_000 },
    ],
    [
      'a rejected API key',
      ownKey,
      { status: 401 },
      { step: 'pause-queue', afterMs: 60_000, reason: 'not-authorized' },
    ],
  ])('after %s', async (_, call, script, step) => {
    expect(nextStep(await failureOf(script, call))).toMatchObject(step)
  })

  it('fails on input that breaks a rule, and on an error of another package', async () => {
    const { gateway } = await openClients({})
    expect(nextStep(await errorOf(gateway.status('')))).toEqual({ step: 'fail' })
    expect(nextStep(new Error('mine'))).toEqual({ step: 'fail' })
    expect(nextStep(undefined)).toEqual({ step: 'fail' })
  })
})

describe('after a login, nextStep pauses the queue', () => {
  useTokenServer()

  it.each<[number, object, first: number, later: number, reason: string]>([
    [403, { errorCode: '17' }, 900_000, 900_000, 'locked-out'],
    [401, { errorCode: '17' }, 900_000, 900_000, 'credentials-rejected'],
    [200, { error: 'invalid_grant' }, 900_000, 900_000, 'credentials-rejected'],
    [401, {}, 10_000, 10_000, 'login-unavailable'],
    [404, {}, 10_000, 10_000, 'login-unavailable'],
    [200, {}, 10_000, 10_000, 'login-unavailable'],
  ])('(HTTP %i, %j) at the first call and at later calls', async (status, body, first, later, reason) => {
    api.refuse(status, body)
    const { details, login } = merchant()
    const steps = [first, later].map((afterMs) => ({ step: 'pause-queue', afterMs, reason }))
    expect(nextStep(await errorOf(details()))).toEqual(steps[0])
    expect(nextStep(await errorOf(details()))).toEqual(steps[1])
    expect(nextStep(await errorOf(login()))).toMatchObject({ step: 'pause-queue', reason })
  })
})

describe('monthlyDueDate', () => {
  it.each([
    ['2027-01-31', 0, '2027-01-31'],
    ['2027-01-31', 1, '2027-02-28'],
    ['2027-01-31', 2, '2027-03-31'],
    ['2027-01-31', 13, '2028-02-29'],
    ['2026-12-01', 1, '2027-01-01'],
  ])('of %s and %i is %s', (anchor, number, date) => {
    expect(monthlyDueDate(anchor, number)).toBe(date)
  })

  test('a due date is in the month that was counted, on the day of the anchor or the last day', () => {
    const day = fc.date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
    fc.assert(
      fc.property(day, fc.integer({ min: 0, max: 600 }), (date, number) => {
        const anchor = date.toISOString().slice(0, 10)
        const due = monthlyDueDate(anchor, number)
        const months = (text: string) => Number(text.slice(0, 4)) * 12 + Number(text.slice(5, 7))
        expect(months(due) - months(anchor)).toBe(number)
        const next = new Date(`${due}T00:00:00Z`)
        next.setUTCDate(next.getUTCDate() + 1)
        expect(due.slice(8) === anchor.slice(8) || next.getUTCDate() === 1).toBe(true)
        expect(due.slice(8) <= anchor.slice(8)).toBe(true)
      }),
    )
  })
})

it.each<[string, Script]>([
  ['a 429', { status: 429, headers: { 'retry-after': '600' } }],
  ['a 401', { status: 401 }],
])('a charge that was lost and then got %s keeps its key in the pause', async (_, second) => {
  const { gateway } = await openClients([lost, second])
  const error = await errorOf(gateway.charge(CHARGE_REQUEST))
  expect(error.outcome).toBe('unknown')
  expect(nextStep(error)).toMatchObject({ step: 'pause-queue', idempotencyKey: error.idempotencyKey })
})
