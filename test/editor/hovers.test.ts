import { join } from 'node:path'
import typescript6 from 'typescript'
import typescript5 from 'typescript5'
import { afterAll, describe, expect, test } from 'vitest'
import { repository } from '../package/project.ts'
import { full } from '../support/sizes.ts'
import { type Editor, openInLanguageServer, openInService } from './editors.ts'

const file = join(repository, 'hover.ts')
const text = `import { GatewayClient, SubscriptionsClient } from './src/index.ts'
declare const gateway: GatewayClient
declare const subscriptions: SubscriptionsClient
gateway.charge
gateway.renew
subscriptions.payments
subscriptions.allPayments
subscriptions.subscribe
const charge = await gateway.charge({} as never)
const forgotten = gateway.charge({} as never)
forgotten.id
`

// The declarations of 5.9 lack new members of enumerations. The language service is the same.
const older = typescript5 as unknown as typeof typescript6

describe.each([
  ...(full
    ? [
        { version: '5.9', open: async () => openInService(older, repository, file, text) },
        { version: '6', open: async () => openInService(typescript6, repository, file, text) },
      ]
    : []),
  { version: '7', open: () => openInLanguageServer(repository, file, text) },
])('with TypeScript $version', ({ open }) => {
  let opened: Promise<Editor> | undefined
  const editor = (): Promise<Editor> => (opened ??= open())
  afterAll(async () => (await opened)?.close())

  const hoverAt = async (code: string): Promise<string> =>
    (await editor()).hoverAt(text.indexOf(code) + code.length - 1)

  test.each([
    ['gateway.charge', 'ChargeRequest', 'Charge'],
    ['gateway.renew', 'RenewalInput', 'Charge'],
    ['subscriptions.payments', 'PageOptions', 'PaymentList'],
    ['subscriptions.allPayments', 'PageOptions', 'Payment'],
    ['subscriptions.subscribe', 'SubscribeInput', 'SubscribeResult'],
  ])('the hover of %s names %s and %s, and shows no schema', async (code, ...names) => {
    const hover = await hoverAt(code)
    for (const name of names) expect(hover).toMatch(new RegExp(`\\b${name}\\b`))
    expect(hover).not.toContain('Field<')
  })

  test('a result and the error of a forgotten `await` name the type', async () => {
    expect(await hoverAt('const charge')).toContain('const charge: Charge')
    const errors = await (await editor()).errors()
    expect(errors).toContain('CallPromise<Charge')
    expect(errors).not.toContain('Field<')
  })
})
