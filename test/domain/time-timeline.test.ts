import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createTimeline } from '../../mocks/domain/timeline.ts'

describe('timeline', () => {
  test('what is due runs in time order, and in the order planned at one time', () => {
    const plans = fc.array(fc.record({ at: fc.integer({ min: 0, max: 50 }), cancel: fc.boolean() }), {
      maxLength: 300,
    })
    void fc.assert(
      fc.property(plans, (entries) => {
        let now = 0
        const timeline = createTimeline(() => now)
        const ran: { id: string; at: number; now: number }[] = []
        timeline.on('test', (id, at) => ran.push({ id, at, now: timeline.now() }))
        for (const [index, { at }] of entries.entries()) timeline.schedule(at, 'test', String(index))
        for (const [index, entry] of entries.entries())
          if (entry.cancel) timeline.cancel('test', String(index))
        now = 50
        timeline.settle()
        const expected = entries
          .map(({ at, cancel }, index) => ({ id: String(index), at, now: at, cancel }))
          .filter(({ cancel }) => !cancel)
          .sort((left, right) => left.at - right.at || Number(left.id) - Number(right.id))
          .map(({ id, at, now: time }) => ({ id, at, now: time }))
        expect(ran).toEqual(expected)
        expect(timeline.entries()).toEqual([])
      }),
    )
  })

  test('what is planned while running takes its place in time', () => {
    const timeline = createTimeline(() => 10)
    const ran: string[] = []
    timeline.on('test', (id, at) => {
      ran.push(`${id}@${at}`)
      if (id === 'first') {
        timeline.schedule(at, 'test', 'same time')
        timeline.schedule(at + 2, 'test', 'between')
        timeline.schedule(at + 100, 'test', 'later')
      }
    })
    timeline.replace([
      { at: 1, kind: 'test', id: 'first' },
      { at: 5, kind: 'test', id: 'last' },
    ])
    timeline.settle()
    expect(ran).toEqual(['first@1', 'same time@1', 'between@3', 'last@5'])
    expect(timeline.entries()).toEqual([{ at: 101, kind: 'test', id: 'later' }])
  })

  test('an entry planned for the past runs now, not before', () => {
    const timeline = createTimeline(() => 10)
    const times: number[] = []
    timeline.on('test', (_id, at) => times.push(at))
    timeline.schedule(3, 'test', 'late')
    timeline.settle()
    expect(times).toEqual([10])
  })

  test('a handler that throws is told of, and the rest still runs at the next use', () => {
    const timeline = createTimeline(() => 10)
    const ran: string[] = []
    timeline.on('test', (id) => {
      if (id === 'bad') throw new Error('no')
      ran.push(id)
    })
    timeline.schedule(10, 'test', 'bad')
    timeline.schedule(10, 'test', 'good')
    expect(() => timeline.settle()).toThrow('no')
    expect(timeline.running()).toBe(false)
    timeline.settle()
    expect(ran).toEqual(['good'])
  })

  test('one entry is planned of a kind and an id: the last', () => {
    const timeline = createTimeline(() => 10)
    const times: number[] = []
    timeline.on('test', (_id, at) => times.push(at))
    for (const at of [7, 5, 8]) timeline.schedule(10 + at, 'test', 'a')
    timeline.schedule(11, 'test', 'b')
    expect(timeline.entries().map(({ at, id }) => [at, id])).toEqual([
      [11, 'b'],
      [18, 'a'],
    ])
    timeline.cancelAll('test')
    expect(timeline.entries()).toEqual([])
  })

  test('canceled entries do not pile up', () => {
    const timeline = createTimeline(() => 0)
    timeline.on('test', () => undefined)
    for (let index = 0; index < 10_000; index += 1) {
      timeline.schedule(1_000 + index, 'test', String(index))
      timeline.cancel('test', String(index))
    }
    timeline.schedule(5, 'test', 'kept')
    expect(timeline.entries()).toEqual([{ at: 5, kind: 'test', id: 'kept' }])
  })

  test('the error names the kind that has no handler, a second handler, or a time that is not a number', () => {
    const timeline = createTimeline(() => 0)
    expect(() => timeline.schedule(Number.NaN, 'renewal', '1')).toThrow(/renewal/)
    timeline.schedule(0, 'renewal', '1')
    expect(() => timeline.settle()).toThrow(/renewal/)
    timeline.on('renewal', () => undefined)
    expect(() => timeline.on('renewal', () => undefined)).toThrow(/renewal/)
  })
})
