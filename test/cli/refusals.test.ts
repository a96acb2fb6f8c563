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

test.each<[words: string, RegExp]>([
  ['mock --prot 1', /--prot'\. Options: --port, --host, .*, --version\.$/m],
  ['mock --database here', /--database'\. Options: /],
  ['mock --port', /--port/],
  ['mock --port 70000', /--port .*"70000"/],
  ['mock --port 4e3', /--port .*"4e3"/],
  ['mock --config ', /--config requires a value/],
  ['mock --state ', /--state requires a value/],
  ['mock --clock tomorrow', /^--clock must be ISO 8601 text with a time zone, .*, got "tomorrow"\.$/m],
  ['mock --clock 2027-01-01T06:00', /--clock must be .*zone/],
  ['mock --cert cert.pem', /--cert and --key/],
  ['mock --public-url pay.example', /--public-url must be an absolute http or https URL/],
  ['mock --allow-host mock:80', /--allow-host must be a host name .*"mock:80"/],
  ['mock --allow-host ', /--allow-host/],
  ['mock --notify-once', /--notify-once requires --notify/],
  ['mock --notify somewhere', /--notify somewhere must be /],
  ['mock --notify http://user:pa55@127.0.0.1/hook', /^--notify must (?!.*pa55).*Pass credentials as headers/],
  ['mock --log xml', /--log must be text or json, got "xml"/],
  ['mock --quiet --log json', /--quiet and --log cannot be used together/],
  ['mock now', /"now"/],
  ['compare', /^mandatekit compare requires a file .*\nSee mandatekit compare --help\.$/m],
  ['compare a.jsonl b.jsonl', /one file .*"b\.jsonl"/],
  ['compare --row 3', /^Unknown option '--row'\. Options: --config, --ignore, --github, --help\.$/m],
  ['probe --row 3', /^Unknown option '--row'\. Options: --config, .*\nSee mandatekit probe --help\.$/m],
  ['probe sandbox', /Unknown argument "sandbox"\./],
  ['mok', /"mok"/],
  ['', /mandatekit mock/],
])(
  'a command that is not valid ends with exit code 2 and names the word: mandatekit %s',
  async (words, message) => {
    const { code, out, err } = await runHere(...(words === '' ? [] : words.split(' ')))
    expect(err).toMatch(message)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).not.toContain('    at ')
  },
)

test('a busy port is named, with the options that help', async () => {
  const port = await open(createServer())
  const err = `Port ${port} of 127.0.0.1 is in use. Choose another port with --port, or use --port 0 for any free port.\n`
  expect(await run('mock', '--port', String(port))).toMatchObject({ code: 1, err })
})

test.each([
  [['--host', '203.0.113.7'], '--host 203.0.113.7'],
  [['--config', 'missing.json'], '--config missing.json: the file does not exist'],
  [['--config', 'options.yaml'], 'options.yaml: the file name must end in'],
  [['--cert', 'missing.pem', '--key', 'missing.pem'], '--cert missing.pem: the file does not exist'],
])('a command that fails ends with exit code 1 and the reason: %j', async (words, reason) => {
  const { code, err } = await runHere('mock', '--port', '0', ...words)
  expect(err).toContain(reason)
  expect(code).toBe(1)
})

const MISSING = 'Missing faults.0.latencyMs: pass milliseconds from 0, because the kind is "latency"'
const NO_OPTIONS = 'the module exports neither config nor default.\n'
test.each([
  ['wrong.json', '{"gateway":{"rate":1}}', 'gateway.rate'],
  ['wrong.json', '{"subscriptions":{"amountPattern":"["}}', 'subscriptions.amountPattern'],
  ['wrong.json', '{"subscriptions":{"merchants":[{"name":"Shop"}]}}', 'subscriptions.merchants'],
  ['wrong.json', '{"color":"red"}', 'color'],
  ['wrong.json', '{"faults":[{"operation":"*","kind":"latency"}]}', MISSING],
  ['wrong.json', '[]', 'options must be a plain object'],
  ['wrong.json', '{"subscriptions":null}', 'subscriptions must be a plain object'],
  ['wrong.json', '{"subscriptions":[]}', 'subscriptions must be a plain object'],
  ['wrong.json', '{"gateway":5}', 'gateway must be a plain object'],
  ['wrong.json', '{"subscriptions":{"notify":{"to":"http://a.example"}}}', 'notify must be a list'],
  ['wrong.mjs', 'export const config = () => ({})\n', 'options must be a plain object'],
  ['broken.json', '{ "gateway": { "apiKeys": [ "very-secret" very-secret ] } }', 'not valid JSON'],
  ['empty.mjs', 'export const options = {}\n', NO_OPTIONS],
  ['throwing.mjs', "throw new Error('The settings are missing.')\n", 'The settings are missing.\n'],
  ['team.state', 'charges: none', 'does not fit this mock or is broken. Delete it, or name another file: '],
])('a file that is wrong is named with the reason, and not quoted: %s %s', async (name, text, reason) => {
  const path = await file(name, text)
  const option = name.endsWith('.state') ? '--state' : '--config'
  const { code, out, err } = await runHere('mock', '--port', '0', option, path)
  expect(err).toContain(option === '--state' ? `The state file ${path} ` : `--config ${path}: `)
  expect(err.replace(path, '')).toContain(reason)
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).not.toMatch(/ {4}at |very-secret/)
})
