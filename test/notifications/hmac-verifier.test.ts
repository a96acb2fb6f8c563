import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { type HmacVerifierOptions, hmacVerifier, parseNotification } from '../../src/notifications/index.ts'
import { payment, SIGNING_SECRET as SECRET, sign, signing } from '../support/messages.ts'
import { openReceiver } from '../support/receiver.ts'

const SECOND = 'second-secret-of-the-merchant'
// Non-ASCII text, unusual spaces and a trailing zero change when JSON is parsed and written again.
const TEXT = `{ "note":"টাকা – é",  "ratio": 1.0,${JSON.stringify(payment()).slice(1)}\n`

const verify = (signature: string | undefined, options: Partial<HmacVerifierOptions> = {}, text = TEXT) =>
  hmacVerifier({ header: 'X-Signature', secrets: SECRET, ...options })({
    notification: parseNotification(TEXT),
    headers: new Headers(signature === undefined ? {} : { 'x-signature': signature }),
    bytes: new TextEncoder().encode(text),
  })

test('case 40: the body as sent verifies, and the same JSON written again does not', async () => {
  expect(await verify(sign(TEXT))).toBe(true)
  expect(await verify(sign(TEXT), {}, JSON.stringify(JSON.parse(TEXT)))).toBe(false)
})

test('case 40: with several secrets any of them verifies, and another does not', async () => {
  const secrets = [SECRET, new TextEncoder().encode(SECOND)]
  for (const secret of [SECRET, SECOND]) expect(await verify(sign(TEXT, secret), { secrets })).toBe(true)
  expect(await verify(sign(TEXT, 'another'), { secrets })).toBe(false)
})

test.each([
  ['hex', 'SHA-256', 'sha256'],
  ['base64', 'SHA-256', 'sha256'],
  ['base64url', 'SHA-384', 'sha384'],
  ['hex', 'SHA-512', 'sha512'],
] as const)('a signature verifies as %s of %s', async (encoding, algorithm, digest) => {
  const signed = (text: string) => createHmac(digest, SECRET).update(text).digest(encoding)
  expect(await verify(signed(TEXT), { encoding, algorithm })).toBe(true)
  expect(await verify(signed(`${TEXT} `), { encoding, algorithm })).toBe(false)
})

test('a signature verifies in upper-case hex, and after its prefix only', async () => {
  expect(await verify(sign(TEXT).toUpperCase())).toBe(true)
  expect(await verify(`sha256=${sign(TEXT)}`, { prefix: 'sha256=' })).toBe(true)
  expect(await verify(sign(TEXT), { prefix: 'sha256=' })).toBe(false)
})

test.each([
  ['missing', undefined],
  ['empty', ''],
  ['too long', 'ab'.repeat(40)],
  ['of odd length', 'abc'],
  ['not hex', 'zz'.repeat(32)],
  ['cut off', sign(TEXT).slice(0, 62)],
  ['sent twice', `${sign(TEXT)}, ${sign(TEXT)}`],
])('case 40: a signature that is %s is refused without an error', async (_what, signature) => {
  expect(await verify(signature)).toBe(false)
  expect(await verify(signature, { encoding: 'base64' })).toBe(false)
})

test('a signed message has one id under any charset label', async () => {
  const { deliver, onPayment } = openReceiver(signing)
  const body = JSON.stringify(payment({ notificationId: 'né-1' }))
  for (const charset of ['utf-8', 'iso-8859-1']) {
    const type = `application/json; charset=${charset}`
    expect(await deliver(body, { 'x-signature': sign(body), 'content-type': type })).toBe(200)
  }
  expect(onPayment.mock.calls.map(([{ notificationId }]) => notificationId)).toEqual(['né-1'])
})
