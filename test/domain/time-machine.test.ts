import { afterEach, describe, expect, test, vi } from 'vitest'
import { withinRealTime } from '../../mocks/time/machine.ts'

const forever = () => new Promise<never>(() => undefined)

afterEach(() => {
  vi.useRealTimers()
})

describe('a limit of real time', () => {
  test('ends work that takes longer, aborts its signal, and runs under fake timers', async () => {
    vi.useFakeTimers()
    let aborted: AbortSignal | undefined
    const work = withinRealTime(5, 'Too slow.', (signal) => {
      aborted = signal
      return forever()
    })
    await expect(work).rejects.toThrow('Too slow.')
    expect(aborted?.reason).toMatchObject({ message: 'Too slow.' })
    expect(vi.getTimerCount()).toBe(0)
  })

  test('passes on what ends in time, and starts again while it is paused', async () => {
    await expect(withinRealTime(1_000, '', async () => 'done')).resolves.toBe('done')
    await expect(withinRealTime(1_000, '', () => Promise.reject(new Error('broken')))).rejects.toThrow(
      'broken',
    )
    let turns = 0
    const isPaused = () => {
      turns += 1
      return turns < 3
    }
    await expect(withinRealTime(5, 'Too slow.', forever, isPaused)).rejects.toThrow('Too slow.')
    expect(turns).toBe(3)
  })

  test('leaves no timer behind, and keeps no process alive while it is paused', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const before = timers()
    await withinRealTime(60_000, '', async () => undefined)
    expect(timers()).toBe(before)
    let wasPaused: () => void = () => undefined
    const paused = new Promise<void>((resolve) => (wasPaused = resolve))
    void withinRealTime(5, '', forever, () => {
      wasPaused()
      return true
    })
    await paused
    expect(timers()).toBeLessThanOrEqual(before)
  })
})
