import { expect, onTestFinished, test, vi } from 'vitest'
import { testNumbers } from '../../mocks/core.ts'
import { open } from '../mock/open.ts'

test('events keep their ids and order, whenever they are read, also after the clock is set back', async () => {
  const { mock, charge } = await open({
    gateway: { confirmationTtl: { hours: 1 }, retryDelay: { minutes: 30 } },
  })
  const start = mock.clock.now()
  const readings = [mock.state.events()]
  const read = () => readings.push(mock.state.events())
  const { json } = await charge('retried', { msisdn: testNumbers.retry_then_succeeds })
  await charge('unconfirmed')
  mock.payer.confirm(json.confirmation_id)
  read()
  await mock.clock.advance({ minutes: 40 })
  read()
  await mock.clock.advance({ minutes: 40 })
  await mock.clock.set(start)
  read()
  expect(mock.state.charges().map(({ status }) => status)).toEqual(['succeeded', 'expired'])
  await charge('later')
  read()
  await mock.clock.advance({ days: 1 })
  read()
  const last = mock.state.events()
  for (const reading of readings) expect(last.slice(0, reading.length)).toEqual(reading)
  expect(last.map(({ type, created_at }) => [type, (Date.parse(created_at) - start) / 60_000])).toEqual([
    ['charge.created', 0],
    ['charge.created', 0],
    ['charge.confirmed', 0],
    ['charge.pending_retry', 0],
    ['charge.succeeded', 30],
    ['charge.expired', 60],
    ['charge.created', 0],
    ['charge.expired', 60],
  ])
})

test('a machine time that goes back undoes nothing that has happened', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-12-01T06:00:00Z') })
  onTestFinished(() => void vi.useRealTimers())
  const { mock, charge, confirm } = await open({
    clock: 'system',
    gateway: { confirmationTtl: { hours: 1 } },
  })
  const { json } = await charge('unconfirmed')
  vi.setSystemTime('2026-12-01T07:30:00Z')
  expect(mock.state.charges()[0]?.status).toBe('expired')
  const events = mock.state.events()
  vi.setSystemTime('2026-12-01T06:10:00Z')
  expect(mock.state.charges()[0]?.status).toBe('expired')
  expect((await confirm(json.confirmation_id)).status).toBe(409)
  await charge('later')
  expect(mock.state.events().slice(0, events.length)).toEqual(events)
})
