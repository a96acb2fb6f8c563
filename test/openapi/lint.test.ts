import spectralCore from '@stoplight/spectral-core'
import spectralRulesets from '@stoplight/spectral-rulesets'
import { expect, test } from 'vitest'
import { runNode } from '../package/project.ts'
import { documents, joined } from './documents.ts'

test('the documents are those of the contract and the mock, and two runs write the same bytes', async () => {
  expect(await runNode(['scripts/openapi.ts'])).toEqual({ exitCode: 0, output: '' })
})

test('Redocly finds no error and no warning, and ignores the three ambiguous paths of the specification', async () => {
  const files = ['openapi/subscriptions.json', 'openapi/gateway.json']
  const lint = ['node_modules/@redocly/cli/bin/cli.js', 'lint', '--format=json', ...files]
  const env = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const { exitCode, output } = await runNode(lint, env)
  expect(exitCode, output).toBe(0)
  // It prints one JSON text for each document.
  expect(output.match(/\{\n {2}"totals".*?\n\}/gs)?.map((text) => JSON.parse(text).totals)).toEqual([
    { errors: 0, warnings: 0, ignored: 3 },
    { errors: 0, warnings: 0, ignored: 0 },
  ])
})

test.each([
  ['subscriptions', documents.subscriptions],
  ['gateway', documents.gateway],
  ['joined', joined('http://127.0.0.1:4010')],
])('Spectral finds nothing in the document %s', async (_name, document) => {
  const spectral = new spectralCore.Spectral()
  // The types of the two packages disagree about `extends`, which this ruleset does not need.
  const oas = { ...spectralRulesets.oas, extends: [] }
  spectral.setRuleset({ extends: [[oas, 'recommended']] })
  const findings = await spectral.run({ ...document })
  expect(findings.map(({ code, message, path }) => `${code} ${message} ${path.join('.')}`)).toEqual([])
})
