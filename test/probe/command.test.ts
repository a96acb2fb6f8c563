import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createMock } from 'mandatekit/mocks/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfigFile } from '../../mocks/cli/config-file.ts'
import { run, runHere } from '../cli/command.ts'
import { startServer } from '../support/mock-server.ts'
import { serve } from '../support/serve.ts'
import { SANDBOX, sandboxOptions } from './set-up.ts'

const source = fileURLToPath(new URL('../../mocks/cli.ts', import.meta.url))

describe('mandatekit probe', () => {
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mandatekit-probe-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  const configured = async (baseUrl: string, more = {}): Promise<readonly string[]> => {
    const path = join(folder, 'sandbox.json')
    const { subscriptions, gateway } = SANDBOX
    const config = { subscriptions: { ...subscriptions, baseUrl }, gateway: { ...gateway, baseUrl, ...more } }
    await writeFile(path, JSON.stringify(config))
    return ['probe', '--config', path]
  }
  const sandbox = () => startServer({ mock: createMock({ ...sandboxOptions(), clock: 'system' }) })
  const result = (out: string, name: string): Promise<string> => readFile(join(folder, out, name), 'utf8')

  test('writes the options, a report and recordings without a secret', async () => {
    const { url } = await sandbox()
    const words = await configured(url)
    const ended = await runHere(...words, '--out', join(folder, 'whole'), '--writes', '--no-payer')
    expect(ended).toMatchObject({ code: 0, err: '' })
    expect(createMock(await readConfigFile(join(folder, 'whole', 'mock.config.json')))).toBeDefined()
    expect((await stat(join(folder, 'whole', 'session.jsonl'))).mode & 0o777).toBe(0o600)
    const written = [await result('whole', 'report.md'), await result('whole', 'recordings.jsonl'), ended.out]
    const { clientId: _id, ...credentials } = SANDBOX.subscriptions.credentials
    const { apiKey, testNumbers } = SANDBOX.gateway
    for (const secret of [...Object.values(credentials), apiKey, testNumbers[0].slice(1)])
      expect(written.join('')).not.toContain(secret)
  })

  test('a killed run resumes with the question at which it was killed', async () => {
    const { url, mock } = await sandbox()
    const words = [...(await configured(url)), '--out', join(folder, 'killed'), '--writes', '--no-payer']
    const child = spawn(process.execPath, ['--no-warnings', source, ...words], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let seen = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      seen += text
      if (seen.includes('[25/')) child.kill('SIGKILL')
    })
    await once(child, 'close')
    const ended = await run(...words)
    expect(ended).toMatchObject({ code: 0, err: '' })
    expect(ended.out).not.toContain('[10/')
    const keys = mock.requests
      .of('gateway.charge')
      .flatMap(({ idempotencyKey, executed }) => (executed ? [idempotencyKey] : []))
    expect(keys).toHaveLength(new Set(keys).size)
  })

  test('ends with 2 and the reason if the server is not the API', async () => {
    const url = await serve(
      (_request, response) => void response.setHeader('content-type', 'text/html').end('<p>Hi</p>'),
    )
    const ended = await runHere(...(await configured(url)), '--out', join(folder, 'html'))
    expect(ended.code).toBe(2)
    expect(ended.err).toContain(
      'subscriptions: the probe stopped early: 3 requests in a row had no usable response',
    )
    expect(await result('html', 'report.md')).toContain('stopped early')
  })

  test('does not continue the session of another sandbox', async () => {
    const out = ['--out', join(folder, 'two')]
    const [one, other] = [await sandbox(), await sandbox()]
    expect((await runHere(...(await configured(one.url)), ...out)).code).toBe(0)
    const ended = await runHere(...(await configured(other.url)), ...out)
    expect(ended.err).toContain(
      `this folder belongs to ${one.url} and ${one.url}, and the --config file names other`,
    )
    expect(ended.code).toBe(2)
    expect(other.mock.requests.all()).toEqual([])
  })

  test('refuses words and files that it does not understand', async () => {
    const { url } = await sandbox()
    const words = await configured(url)
    const missing = await configured(url, { apiKey: '$MANDATEKIT_NO_SUCH_KEY' })
    const path = words.at(-1) ?? ''
    for (const [given, message] of [
      [['probe'], 'mandatekit probe requires --config <file>.'],
      [['probe', '--writs'], "Unknown option '--writs'."],
      [[...words, '--lockout', '0'], '--lockout must be a number of logins from 1 to 99, got "0".'],
      [
        [...words, '--read-only', '--writes'],
        '--read-only cannot be used with --writes, --reset, --rate-limit or --lockout.',
      ],
      [missing, 'gateway.apiKey names an environment variable that is not set.'],
    ] as const) {
      const ended = await runHere(...given)
      expect(ended.err).toContain(message)
      expect(ended.code).toBe(2)
    }
    await writeFile(path, '{}')
    expect((await runHere(...words)).err).toContain('neither subscriptions nor gateway is configured')
  })

  test('--list prints the questions and needs no configuration', async () => {
    const { code, out } = await runHere('probe', '--list')
    expect(code).toBe(0)
    expect(out).toContain('row 18: up to 20 subscription requests')
    expect(out).toContain('Ask the provider: Is an amount in whole or in minor units?')
  })
})
