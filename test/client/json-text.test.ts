import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readJson } from '../../src/transport/json-text.ts'

it('JSON without large integers is read as it is everywhere', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      fc.pre(!/\d{16}/.test(text))
      expect(readJson(text)).toEqual({ ok: true, value: JSON.parse(text) })
    }),
  )
})

it('a large integer becomes its digits, wherever it stands, and nothing else changes', () => {
  const large = fc.bigInt({ min: 2n ** 53n, max: 10n ** 40n })
  fc.assert(
    fc.property(large, fc.string(), fc.integer(), (number, word, small) => {
      const text = `{"n":${number},"m":[-${number}, ${small}],"s":${JSON.stringify(`${word}${number}"`)},"f":1.5}`
      const value = { n: `${number}`, m: [`-${number}`, small], s: `${word}${number}"`, f: 1.5 }
      expect(readJson(text)).toEqual({ ok: true, value })
    }),
  )
})

it('a text that is no JSON is said to be none', () => {
  for (const text of ['', '<html>', '{', '12345678901234567890 x', '"\\"\\"\\"12345678901234567890']) {
    expect(readJson(text)).toEqual({ ok: false })
  }
})

it('millions of escapes beside a large integer are read', () => {
  const note = '\n"\\'.repeat(2_000_000)
  const text = `{"note":${JSON.stringify(note)},"n":12345678901234567890,"last":"\\\\"}`
  expect(readJson(text)).toEqual({ ok: true, value: { note, n: '12345678901234567890', last: '\\' } })
})
