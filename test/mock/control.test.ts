import { expect, test } from 'vitest'
import { createMock } from '../../mocks/core.ts'
import { clientsOf } from '../support/mock-clients.ts'
import { START } from './open.ts'

const DAY = 86_400_000
const ok = async (): Promise<Response> => new Response()

const open = () => {
  const mock = createMock({ clock: START })
  return { mock, control: mock.control, ...clientsOf(mock, { fetch: mock.fetch, retry: false }) }
}

test('moveClock moves the clock by a duration or to a time, and a valid token stays valid', async () => {
  const { mock, control, subscriptions } = open()
  const accepts = async (token: string) => {
    const url = `${mock.clientOptions.subscriptions.baseUrl}/api/v1.0/subscribe/none/status`
    return (await mock.fetch(url, { method: 'POST', headers: { authorization: `Bearer ${token}` } })).status
  }
  const { access_token: token } = await subscriptions.login()
  await control.moveClock({ by: { days: 30 } })
  expect([mock.clock.now(), await accepts(token)]).toEqual([Date.parse(START) + 30 * DAY, 404])
  await control.moveClock({ to: '2027-02-01T00:00:00Z' })
  expect([mock.clock.now(), await accepts(token)]).toEqual([Date.parse('2027-02-01T00:00:00Z'), 404])
  await mock.clock.advance({ days: 1 })
  expect(await accepts(token)).toBe(401)
})

test('faults have a number, and show how often they still apply', async () => {
  const { mock, control, gateway } = open()
  mock.faults.add({ operation: 'gateway.health', kind: 'html', times: 2 })
  mock.faults.add({ operation: '*', kind: 'empty', times: 'always' })
  await gateway.health()
  const always = { number: 2, fault: { operation: '*', kind: 'empty', times: 'always' }, left: 'always' }
  expect(control.faults.list()).toEqual([
    { number: 1, fault: { operation: 'gateway.health', kind: 'html', times: 2 }, left: 1 },
    always,
  ])
  control.faults.remove(1)
  expect(control.faults.list()).toEqual([always])
  const unknown = expect.objectContaining({ name: 'MockRefusedError', reason: 'not_found' })
  expect(() => control.faults.remove(1)).toThrow(unknown)
})

test('receivers have a number, and their list contains no secret', () => {
  const { mock, control } = open()
  const options = { headers: { authorization: 'secret' }, signing: { secret: 'secret' }, retries: 3 }
  mock.notifications.connect('http://127.0.0.1:9/hook?key=secret', options)
  mock.notifications.connect(ok)
  expect(control.receivers.list()).toEqual([
    { number: 1, to: 'http://127.0.0.1:9/hook', retries: 3 },
    { number: 2 },
  ])
  control.receivers.disconnect(1)
  expect(control.receivers.list()).toEqual([{ number: 2 }])
  expect(() => control.receivers.disconnect(1)).toThrow('control.receivers.disconnect: There is no such')
})

test('snapshots are saved by name, survive a reset, and are restored as often as needed', async () => {
  const { mock, control } = open()
  control.snapshots.save('new')
  await mock.clock.advance({ days: 1 })
  control.snapshots.save('later')
  mock.outage.start()
  control.snapshots.save('new')
  mock.reset()
  const at = new Date(Date.parse(START) + DAY)
  expect(control.snapshots.list()).toEqual([
    { name: 'new', at },
    { name: 'later', at },
  ])
  const health = async () => (await mock.fetch(`${mock.clientOptions.gateway.baseUrl}/health`)).status
  for (const [name, status] of [
    ['later', 200],
    ['new', 503],
    ['later', 200],
  ] as const) {
    control.snapshots.restore(name)
    expect([mock.clock.now(), await health()]).toEqual([at.getTime(), status])
  }
  control.snapshots.delete('new')
  expect(control.snapshots.list().map(({ name }) => name)).toEqual(['later'])
  expect(() => control.snapshots.restore('new')).toThrow('There is no snapshot new.')
  expect(() => control.snapshots.delete('new')).toThrow('There is no snapshot new.')
})
