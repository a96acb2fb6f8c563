import { expect, test } from 'vitest'
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
