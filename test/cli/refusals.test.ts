import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { open } from '../support/serve.ts'
import { run, runHere, useCommands } from './command.ts'

const { file } = useCommands()

test('--help and --version print to the output with exit code 0, and an unknown option ends the process with 2', async () => {
  const [help, version, wrong] = await Promise.all([run('--help'), run('--version'), run('mock', '--prot')])
  expect(wrong).toMatchObject({ code: 2, out: '' })
  expect(help).toMatchObject({ code: 0, err: '' })
  const options =
    '--port --host --config --clock --seed --strict --limits --notify --notify-once --no-panel --cert --key --public-url --allow-host --state --quiet --log'
  for (const option of options.split(' ')) expect(help.out).toContain(`${option} `)
  const manifest = await readFile(new URL('../../package.json', import.meta.url), 'utf8')
  expect(version).toEqual({ code: 0, out: `${JSON.parse(manifest).version}\n`, err: '' })
})

test.each(['probe', 'compare'])('%s --help names its options', async (name) => {
  const { code, out, err } = await runHere(name, '--help')
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toMatch(/^Usage: mandatekit .*--config <file>.*--help/s)
  expect(await runHere(name, '-h')).toEqual({ code, out, err })
})

test.each([
  [['mock', '--prot', '1'], /--prot'\. Options: --port, --host, .*, --version\.$/m],
  [['mock', '--database', 'here'], /--database'\. Options: /],
  [['mock', '--port'], /--port/],
  [['mock', '--port', '70000'], /--port .*"70000"/],
  [['mock', '--port', '4e3'], /--port .*"4e3"/],
  [['mock', '--config', ''], /--config requires a value/],
  [['mock', '--state', ''], /--state requires a value/],
  [
    ['mock', '--clock', 'tomorrow'],
    /^--clock: time must be ISO 8601 text with its zone .*, got "tomorrow"\.$/m,
  ],
  [['mock', '--clock', '2027-01-01T06:00'], /--clock: .*zone/],
  [['mock', '--cert', 'cert.pem'], /--cert and --key/],
  [['mock', '--public-url', 'pay.example'], /--public-url must be an absolute http or https URL/],
  [['mock', '--allow-host', 'mock:80'], /--allow-host must be a host name .*"mock:80"/],
  [['mock', '--allow-host', ''], /--allow-host/],
  [['mock', '--notify-once'], /--notify-once requires --notify/],
  [['mock', '--notify', 'somewhere'], /--notify somewhere: /],
  [
    ['mock', '--notify', 'http://user:pa55@127.0.0.1/hook'],
    /^--notify: (?!.*pa55).*Pass credentials as headers/,
  ],
  [['mock', '--log', 'xml'], /--log must be text or json, got "xml"/],
  [['mock', '--quiet', '--log', 'json'], /--quiet and --log exclude each other/],
  [['mock', 'now'], /"now"/],
  [['compare'], /^mandatekit compare requires a file .*\nSee mandatekit compare --help\.$/m],
  [['compare', 'a.jsonl', 'b.jsonl'], /one file .*"b\.jsonl"/],
  [['compare', '--row', '3'], /^Unknown option '--row'\. Options: --config, --ignore, --github, --help\.$/m],
  [
    ['probe', '--row', '3'],
    /^Unknown option '--row'\. Options: --config, .*\nSee mandatekit probe --help\.$/m,
  ],
  [['probe', 'sandbox'], /takes options only, got "sandbox"/],
  [['mok'], /"mok"/],
  [[], /mandatekit mock/],
])('a command that is not valid ends with exit code 2 and names the word: %j', async (words, message) => {
  const { code, out, err } = await runHere(...words)
  expect(err).toMatch(message)
  expect({ code, out }).toEqual({ code: 2, out: '' })
  expect(err).not.toContain('    at ')
})

test('a busy port is named, with the options that help', async () => {
  const port = await open(createServer())
  expect(await run('mock', '--port', String(port))).toMatchObject({
    code: 1,
    err: `Port ${port} of 127.0.0.1 is in use. Choose another port with --port, or use --port 0 for any free port.\n`,
  })
})

test.each([
  [['--host', '203.0.113.7'], /--host 203\.0\.113\.7/],
  [['--config', 'missing.json'], /--config missing\.json: the file does not exist/],
  [['--config', 'options.yaml'], /options\.yaml: the file must end in/],
  [['--cert', 'missing.pem', '--key', 'missing.pem'], /--cert missing\.pem: the file does not exist/],
])('a command that fails ends with exit code 1 and the reason: %j', async (words, message) => {
  const { code, err } = await runHere('mock', '--port', '0', ...words)
  expect(err).toMatch(message)
  expect(code).toBe(1)
})

test.each([
  ['gateway.rate', '{"gateway":{"rate":1}}'],
  ['subscriptions.amountPattern', '{"subscriptions":{"amountPattern":"["}}'],
  ['subscriptions.merchants', '{"subscriptions":{"merchants":[{"name":"Shop"}]}}'],
  ['color', '{"color":"red"}'],
  [
    'Missing faults.0.latencyMs: pass milliseconds from 0, because the kind is "latency"',
    '{"faults":[{"operation":"*","kind":"latency"}]}',
  ],
  ['the options must be an object', '[]'],
])('a wrong option of a file is named: %s', async (name, text) => {
  const path = await file('wrong.json', text)
  const { code, out, err } = await runHere('mock', '--port', '0', '--config', path)
  expect(err).toContain(`--config ${path}: `)
  expect(err.replace(path, '')).toContain(name)
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).not.toContain('    at ')
})

test('a broken state file ends the command with exit code 1, and the error names the file', async () => {
  const path = await file('team.state', 'charges: none')
  const { code, out, err } = await run('mock', '--port', '0', '--state', path)
  expect(err).toMatch(
    `The state file ${path} does not fit this mock or is broken. Delete it, or name another file: `,
  )
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).not.toContain('    at ')
})

test('broken JSON is not quoted', async () => {
  const path = await file('broken.json', '{ "gateway": { "apiKeys": [ "very-secret" very-secret ] } }')
  const { code, err } = await runHere('mock', '--config', path)
  expect(err).toMatch(/not valid JSON/)
  expect(err).not.toContain('very-secret')
  expect(code).toBe(1)
})

test.each([
  ['empty.mjs', 'export const options = {}\n', 'the module exports neither config nor default.'],
  ['throwing.mjs', "throw new Error('The settings are missing.')\n", 'The settings are missing.'],
])('a module without options is refused: %s', async (name, text, reason) => {
  const path = await file(name, text)
  expect(await run('mock', '--config', path)).toMatchObject({ code: 1, err: `--config ${path}: ${reason}\n` })
})
