import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createAgenda, newAgenda } from '../../mocks/time/clock.ts'

const open = (now: () => number) => {
  const state = newAgenda()
  const agenda = createAgenda({ clock: { agenda: state } }, now)
  const entries = () =>
    [...state.planned.values()]
      .map(({ at, kind, id }) => ({ at, kind, id }))
      .sort((left, right) => left.at - right.at)
  return { ...agenda, state, entries }
}

describe('the agenda', () => {
  test('what is due runs in time order, and in the order planned at one time', () => {
    const plans = fc.array(fc.record({ at: fc.integer({ min: 0, max: 50 }), cancel: fc.boolean() }), {
      maxLength: 300,
    })
    void fc.assert(
      fc.property(plans, (entries) => {
        let now = 0
        const agenda = open(() => now)
        const ran: { id: string; at: number; now: number }[] = []
        agenda.on('test', (id, at) => ran.push({ id, at, now: agenda.now() }))
        for (const [index, { at }] of entries.entries()) agenda.schedule(at, 'test', String(index))
        for (const [index, entry] of entries.entries()) if (entry.cancel) agenda.cancel('test', String(index))
        now = 50
        agenda.runDue()
        const expected = entries
          .map(({ at, cancel }, index) => ({ id: String(index), at, now: at, cancel }))
          .filter(({ cancel }) => !cancel)
          .sort((left, right) => left.at - right.at || Number(left.id) - Number(right.id))
          .map(({ id, at, now: time }) => ({ id, at, now: time }))
        expect(ran).toEqual(expected)
        expect(agenda.entries()).toEqual([])
      }),
    )
  })

  test('what is planned while running takes its place in time', () => {
    let now = 0
    const agenda = open(() => now)
    const ran: string[] = []
    agenda.on('test', (id, at) => {
      ran.push(`${id}@${at}`)
      if (id === 'first') {
        agenda.schedule(at, 'test', 'same time')
        agenda.schedule(at + 2, 'test', 'between')
        agenda.schedule(at + 100, 'test', 'later')
      }
    })
    agenda.schedule(1, 'test', 'first')
    agenda.schedule(5, 'test', 'last')
    now = 10
    agenda.runDue()
    expect(ran).toEqual(['first@1', 'same time@1', 'between@3', 'last@5'])
    expect(agenda.entries()).toEqual([{ at: 101, kind: 'test', id: 'later' }])
  })

  test('a handler that throws is told of, and the rest still runs at the next use', () => {
    const agenda = open(() => 10)
    const ran: string[] = []
    agenda.on('test', (id) => {
      if (id === 'bad') throw new Error('no')
      ran.push(id)
    })
    agenda.schedule(10, 'test', 'bad')
    agenda.schedule(10, 'test', 'good')
    expect(() => agenda.runDue()).toThrow('no')
    expect(agenda.isRunning()).toBe(false)
    agenda.runDue()
    expect(ran).toEqual(['good'])
  })

  test('canceled and replaced entries of one instant are not kept', () => {
    const agenda = open(() => 0)
    for (let index = 0; index < 100; index += 1) {
      agenda.schedule(5, 'test', String(index))
      if (index > 0) agenda.cancel('test', String(index))
      agenda.schedule(5, 'test', '0')
    }
    expect([agenda.next()?.at, agenda.state.slots.get(5)?.size]).toEqual([5, 1])
  })

  test('canceled entries do not pile up', () => {
    const agenda = open(() => 0)
    agenda.on('test', () => undefined)
    for (let index = 0; index < 10_000; index += 1) {
      agenda.schedule(1_000 + index, 'test', String(index))
      agenda.cancel('test', String(index))
    }
    agenda.schedule(20_000, 'test', 'kept')
    expect([agenda.next()?.at, agenda.entries().length, agenda.state.slots.size]).toEqual([20_000, 1, 1])
  })

  test('the error names the kind that has no handler, a second handler, or a time that is not a number', () => {
    const agenda = open(() => 0)
    expect(() => agenda.schedule(Number.NaN, 'renewal', '1')).toThrow(/renewal/)
    agenda.schedule(0, 'renewal', '1')
    expect(() => agenda.runDue()).toThrow(/renewal/)
    agenda.on('renewal', () => undefined)
    expect(() => agenda.on('renewal', () => undefined)).toThrow(/renewal/)
  })
})
