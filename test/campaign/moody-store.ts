import type { TokenRecord, TokenStore } from '../../src/index.ts'
import type { StoreMood } from './schedule.ts'

/** A token store that has one mood for each request, in turn. */
export const moodyStore = (moods: readonly StoreMood[]): TokenStore => {
  const kept: TokenRecord[] = []
  let turn = 0
  const inMood = async <Result>(work: (mood: StoreMood) => Result): Promise<Result> => {
    const mood = moods[turn % moods.length] ?? 'works'
    turn += 1
    if (mood === 'fails') throw new Error('The store is down.')
    if (mood === 'hangs') return new Promise(() => undefined)
    return work(mood)
  }
  return {
    get: () =>
      inMood((mood) => {
        if (mood === 'returns garbage') return { version: 1, token: 'none' } as unknown as TokenRecord
        if (mood === 'forgets') return undefined
        return mood === 'returns an old record' ? kept[0] : kept.at(-1)
      }),
    set: (_, record) =>
      inMood((mood) => {
        if (mood !== 'forgets') kept.push(record)
      }),
    delete: () =>
      inMood(() => {
        kept.length = 0
      }),
  }
}
