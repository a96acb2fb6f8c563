import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { open } from '../support/serve.ts'
import { run, runHere } from './command.ts'

// Each test starts processes.
vi.setConfig({ testTimeout: 60_000 })

let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mandatekit-command-'))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

test('--help and --version answer on the output with exit code 0', async () => {
  const [help, version] = await Promise.all([run('--help'), run('--version')])
  expect(help).toMatchObject({ code: 0, err: '' })
  const options =
    '--port --host --config --clock --seed --strict --limits --notify --notify-once --cert --key'
  for (const option of options.split(' ')) expect(help.out).toContain(`${option} `)
  const manifest = await readFile(new URL('../../package.json', import.meta.url), 'utf8')
  expect(version).toEqual({ code: 0, out: `${JSON.parse(manifest).version}\n`, err: '' })
})

describe('a command that makes no sense ends with exit code 2 and names the word', () => {
  test.each([
    [['mock', '--prot', '1'], /--prot.*; did you mean --port\?$/m],
    [['mock', '--database', 'here'], /--database'\.$/m],
    [['mock', '--port'], /--port/],
    [['mock', '--port', '70000'], /--port .*"70000"/],
    [['mock', '--port', '4e3'], /--port .*"4e3"/],
    [['mock', '--config', ''], /--config needs a value/],
    [['mock', '--clock', 'tomorrow'], /--clock: "tomorrow"/],
    [['mock', '--clock', '2027-01-01T06:00'], /--clock: .*zone/],
    [['mock', '--cert', 'cert.pem'], /--cert and --key/],
    [['mock', '--notify-once'], /--notify-once needs --notify/],
    [['mock', 'now'], /"now"/],
    [['mok'], /"mok"/],
    [[], /mandatekit mock/],
  ])('%j', async (words, message) => {
    const { code, out, err } = await runHere(...words)
    expect(err).toMatch(message)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).not.toContain('    at ')
  })
})

test('the process ends with the exit code of a wrong option', async () => {
  expect(await run('mock', '--prot', '1')).toMatchObject({ code: 2, out: '' })
})

test('a busy port is named, with the way out', async () => {
  const port = await open(createServer())
  const { code, err } = await run('mock', '--port', String(port))
  expect(err).toBe(
    `Port ${port} of 127.0.0.1 is in use. Choose another with --port; --port 0 takes any free one.\n`,
  )
  expect(code).toBe(1)
})

test.each([
  [['--host', '203.0.113.7'], /--host 203\.0\.113\.7/],
  [['--config', 'missing.json'], /--config missing\.json: there is no such file/],
  [['--config', 'options.yaml'], /options\.yaml: the file ends in/],
  [['--cert', 'missing.pem', '--key', 'missing.pem'], /--cert missing\.pem: there is no such file/],
  [['--notify', 'somewhere'], /--notify somewhere: /],
])('what cannot be done ends with exit code 1 and says why: %j', async (words, message) => {
  const { code, err } = await runHere('mock', '--port', '0', ...words)
  expect(err).toMatch(message)
  expect(code).toBe(1)
})

describe('a file with a wrong option is refused by name', () => {
  test.each([
    ['gateway.rate', '{"gateway":{"rate":1}}'],
    ['gateway.otp', '{"gateway":{"otp":123456}}'],
    ['gateway.rateLimit', '{"gateway":{"rateLimit":{"limit":3}}}'],
    ['gateway.testNumbers', '{"gateway":{"testNumbers":{"+1":"explodes"}}}'],
    ['subscriptions.refresh', '{"subscriptions":{"refresh":"never"}}'],
    ['subscriptions.lockout', '{"subscriptions":{"lockout":true}}'],
    ['subscriptions.amountPattern', '{"subscriptions":{"amountPattern":"["}}'],
    ['subscriptions.merchants', '{"subscriptions":{"merchants":[{"name":"Shop"}]}}'],
    ['subscriptions.', '{"subscriptions":{"lockOut":false}}'],
    ['color', '{"color":"red"}'],
    ['rules', '{"rules":"lax"}'],
    ['the options are an object', '[]'],
  ])('%s', async (name, text) => {
    const path = join(folder, `${name}.json`)
    await writeFile(path, text)
    const { code, out, err } = await runHere('mock', '--port', '0', '--config', path)
    expect(err).toContain(`--config ${path}: `)
    expect(err.replace(path, '')).toContain(name)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).not.toContain('    at ')
  })
})

test('broken JSON is refused without quoting it', async () => {
  const path = join(folder, 'broken.json')
  await writeFile(path, '{ "gateway": { "apiKeys": [ "very-secret" very-secret ] } }')
  const { code, err } = await runHere('mock', '--config', path)
  expect(err).toMatch(/it is not JSON/)
  expect(err).not.toContain('very-secret')
  expect(code).toBe(1)
})

test('a module that exports no options is refused, and so is one that throws', async () => {
  const [empty, throwing] = [join(folder, 'empty.mjs'), join(folder, 'throwing.mjs')]
  await writeFile(empty, 'export const options = {}\n')
  await writeFile(throwing, "throw new Error('The settings are not there.')\n")
  expect(await run('mock', '--config', empty)).toMatchObject({
    code: 1,
    err: `--config ${empty}: it exports neither config nor a default.\n`,
  })
  expect(await run('mock', '--config', throwing)).toMatchObject({
    code: 1,
    err: `--config ${throwing}: The settings are not there.\n`,
  })
})
