import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, test } from 'vitest'

const repository = fileURLToPath(new URL('../..', import.meta.url))
const { config } = ts.readConfigFile(join(repository, 'tsconfig.json'), ts.sys.readFile)
const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, repository)

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
const service = ts.createLanguageService({
  getScriptFileNames: () => [file],
  getScriptVersion: () => '1',
  getScriptSnapshot: (path) => {
    const content = path === file ? text : ts.sys.readFile(path)
    return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content)
  },
  getCurrentDirectory: () => repository,
  getCompilationSettings: () => options,
  getDefaultLibFileName: ts.getDefaultLibFilePath,
  fileExists: (path) => path === file || ts.sys.fileExists(path),
  readFile: ts.sys.readFile,
  readDirectory: ts.sys.readDirectory,
})

const hoverAt = (code: string): string => {
  const position = text.indexOf(code) + code.length - 1
  return ts.displayPartsToString(service.getQuickInfoAtPosition(file, position)?.displayParts)
}

test.each([
  ['gateway.charge', 'ChargeRequest', 'Charge'],
  ['gateway.renew', 'RenewalInput', 'Charge'],
  ['subscriptions.payments', 'PageOptions', 'PaymentList'],
  ['subscriptions.allPayments', 'PageOptions', 'Payment'],
  ['subscriptions.subscribe', 'SubscribeInput', 'SubscribeResult'],
])('the hover of %s names %s and %s, and shows no schema', (code, ...names) => {
  const hover = hoverAt(code)
  for (const name of names) expect(hover).toMatch(new RegExp(`\\b${name}\\b`))
  expect(hover).not.toContain('Field<')
})

test('a result and the error of a forgotten `await` name the type', () => {
  expect(hoverAt('const charge')).toContain('const charge: Charge')
  const messages = service
    .getSemanticDiagnostics(file)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))
  expect(messages.join()).toContain('CallPromise<Charge')
  expect(messages.join()).not.toContain('Field<')
})
