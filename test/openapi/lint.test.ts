import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import spectralCore from '@stoplight/spectral-core'
import spectralRulesets from '@stoplight/spectral-rulesets'
import { expect, test } from 'vitest'
import { documents, joined } from './documents.ts'

const repository = fileURLToPath(new URL('../..', import.meta.url))

/** Runs a program of the repository, and returns its exit code and output. */
const run = (...args: readonly string[]): Promise<{ code: unknown; stdout: string; stderr: string }> =>
  new Promise((resolve) => {
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
    execFile(process.execPath, args, { cwd: repository, env, maxBuffer: 2 ** 24 }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    )
  })

test('the documents are those of the contract and the mock, and two runs write the same bytes', async () => {
  expect(await run('scripts/openapi.ts')).toEqual({ code: 0, stdout: '', stderr: '' })
})

test('Redocly finds no error and no warning, and ignores the three ambiguous paths of the specification', async () => {
  const files = ['openapi/subscriptions.json', 'openapi/gateway.json']
  const lint = ['node_modules/@redocly/cli/bin/cli.js', 'lint', '--format=json', ...files]
  const { code, stdout, stderr } = await run(...lint)
  expect(code, stderr).toBe(0)
  // It prints one JSON text for each document.
  expect(stdout.split(/(?<=^\})(?=\{)/m).map((text) => JSON.parse(text).totals)).toEqual([
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
