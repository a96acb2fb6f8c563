import fc from 'fast-check'
import { expect, it } from 'vitest'
import { errorOf, gatewayClient } from '../support/clients.ts'

const reading = (text: string) =>
  gatewayClient('http://gateway.example', { fetch: async () => new Response(text), retry: false }).status(
    'ch_1',
  )

/** A JSON value as the client reads it in a response. */
const read = async (json: string): Promise<unknown> => {
  const { response } = await reading(`{"status":"succeeded","value":${json}}`).withResponse()
  return (response.body as { value: unknown }).value
}

it('JSON without large integers is read as it is everywhere', async () => {
  await fc.assert(
    fc.asyncProperty(fc.json(), async (text) => {
      fc.pre(!/\d{16}/.test(text))
      expect(await read(text)).toEqual(JSON.parse(text))
    }),
  )
})

it('a large integer becomes its digits, wherever it stands, and nothing else changes', async () => {
  const large = fc.bigInt({ min: 2n ** 53n, max: 10n ** 40n })
  await fc.assert(
    fc.asyncProperty(large, fc.string(), fc.integer(), async (number, word, small) => {
      const text = `{"n":${number},"m":[-${number}, ${small}],"s":${JSON.stringify(`${word}${number}"`)},"f":1.5}`
      const value = { n: `${number}`, m: [`-${number}`, small], s: `${word}${number}"`, f: 1.5 }
      expect(await read(text)).toEqual(value)
    }),
  )
})

it.each(['<html>', '{', '{"status":12345678901234567890 x}'])('%s is not JSON', async (text) => {
  expect(await errorOf(reading(text))).toMatchObject({ code: 'unexpected_response' })
})

it('a text of millions of escapes beside a large integer is read', async () => {
  const note = '\n"\\'.repeat(1_000_000)
  const text = `{"note":${JSON.stringify(note)},"n":12345678901234567890,"last":"\\\\"}`
  expect(await read(text)).toEqual({ note, n: '12345678901234567890', last: '\\' })
})
