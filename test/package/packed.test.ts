import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { full } from '../support/sizes.ts'
import { packedPackage } from './packed.ts'
import { ConsumerProject, repository, strictOptions } from './project.ts'

const packed = await packedPackage()

type Conditions = Record<'import' | 'require', { types: string; default: string }>

interface Manifest {
  readonly version: string
  readonly bin: Record<string, string>
  readonly exports: Record<string, Conditions | string>
}

const manifest: Manifest = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8'))

/** The specifiers of the package's code entries: `mandatekit`, `mandatekit/mocks`, … */
const specifiers = Object.keys(manifest.exports)
  .filter((subpath) => !subpath.endsWith('.json'))
  .map((subpath) => `mandatekit${subpath.slice(1)}`)

let consumer: ConsumerProject
let command = ''
let installed: string[]

beforeAll(async () => {
  consumer = await ConsumerProject.withPackage(packed)
  command = join(consumer.folder, 'node_modules/.bin/mandatekit')
  installed = (await readdir(join(consumer.folder, 'node_modules'))).filter((name) => !name.startsWith('.'))
  for (const name of ['msw', '@types/node']) await consumer.link(name)
})

afterAll(() => consumer.remove())

describe('the tarball', () => {
  test('case 47: holds every file of `exports` and `bin`', () => {
    const targets = Object.values(manifest.exports).flatMap((target) =>
      typeof target === 'string' ? target : Object.values(target).flatMap((one) => Object.values(one)),
    )
    const named = [...targets, ...Object.values(manifest.bin)].map((path) => path.replace('./', ''))
    const documents = ['openapi/gateway.json', 'openapi/subscriptions.json']
    expect(packed.files).toEqual(
      expect.arrayContaining(named.flatMap((path) => (path === 'openapi/*.json' ? documents : path))),
    )
  })

  test('holds the build, the licenses and the documents, and nothing else', () => {
    const others = packed.files.filter((path) => !path.startsWith('dist/') && !path.startsWith('docs/'))
    const documents = ['openapi/gateway.json', 'openapi/subscriptions.json', 'package.json']
    expect(others.sort()).toEqual(['CHANGELOG.md', 'LICENSE', 'README.md', 'llms.txt', ...documents])
    expect(packed.files).toContain('dist/THIRD-PARTY-LICENSES.txt')
  })

  test('is at most 2.5 MB unpacked', () => {
    expect(packed.unpackedSize).toBeLessThanOrEqual(2_500_000)
  })

  test('holds no source map, decision record or benchmark', async () => {
    const unwanted = /\.map$|^docs\/(decisions\/|benchmarks)/
    expect(packed.files.filter((path) => unwanted.test(path))).toEqual([])
    // A comment that names a missing map makes debuggers and bundlers warn.
    const code = packed.files.filter((path) => /\.c?js$/.test(path))
    const texts = code.map((path) => readFile(join(packed.installed, 'mandatekit', path), 'utf8'))
    expect((await Promise.all(texts)).filter((text) => text.includes('sourceMappingURL'))).toEqual([])
    expect(code.length).toBeGreaterThan(10)
  })

  test('adds itself, ky and zod to an empty project', () => {
    expect(installed.sort()).toEqual(['ky', 'mandatekit', 'zod'])
  })
})

/** Runs a program in the consumer's folder, and returns what it prints. */
const outputOf = async (file: string, source: string): Promise<string> => {
  await consumer.write(file, source)
  const { exitCode, output } = await consumer.run(process.execPath, file)
  expect(exitCode, output).toBe(0)
  return output
}

test('every entry loads with import and with require, with the same names', async () => {
  const list = JSON.stringify(specifiers)
  const load = {
    'load.mjs': `const all = await Promise.all(${list}.map(async (name) => [name, await import(name)]))\n`,
    'load.cjs': `const all = ${list}.map((name) => [name, require(name)])\n`,
  }
  const print = `const names = (entry) => Object.keys(entry).filter((name) => name !== '__esModule').sort()
console.log(JSON.stringify(all.map(([specifier, entry]) => [specifier, names(entry)])))`
  const [imported, required] = await Promise.all(
    Object.entries(load).map(async ([file, source]) => JSON.parse(await outputOf(file, source + print))),
  )
  const some = expect.arrayContaining([expect.any(String)])
  expect(imported).toEqual(specifiers.map((specifier) => [specifier, some]))
  expect(required).toEqual(imported)
})

test('the classes of the clients have their own names in logs', async () => {
  const source = `import { GatewayClient, SubscriptionsClient } from 'mandatekit'
console.log(JSON.stringify([GatewayClient.name, SubscriptionsClient.name]))`
  expect(JSON.parse(await outputOf('names.mjs', source))).toEqual(['GatewayClient', 'SubscriptionsClient'])
})

const languageOptions = {
  nodenext: { module: 'nodenext', moduleResolution: 'nodenext' },
  // A quick run compiles the snippets of the documents with `bundler`, and leaves node10, which only the slow compiler
  // knows, to `npm run matrix`.
  ...(full && {
    bundler: { module: 'esnext', moduleResolution: 'bundler' },
    node10: { module: 'commonjs', moduleResolution: 'node10', ignoreDeprecations: '6.0' },
  }),
}

describe.each(Object.entries(languageOptions))('with moduleResolution %s', (resolution, options) => {
  test('case 47: the declarations of the package compile without skipLibCheck', async () => {
    const source = specifiers
      .map((specifier, index) => `export * as entry${index} from '${specifier}'\n`)
      .join('')
    await consumer.write('entries.ts', source)
    await consumer.write('entries.cts', source)
    const files = resolution === 'nodenext' ? ['entries.ts', 'entries.cts'] : ['entries.ts']
    const compilerOptions = { ...options, ...strictOptions, skipLibCheck: false, types: [] }
    await consumer.write(`tsconfig.${resolution}.json`, JSON.stringify({ compilerOptions, files }))
    const compiler = resolution === 'node10' ? 'typescript' : undefined
    const { output } = await consumer.compile(`tsconfig.${resolution}.json`, compiler)
    const ours = /^(error |entries\.|node_modules\/mandatekit\/)/
    expect(output.split('\n').filter((line) => ours.test(line))).toEqual([])
  })
})

test('case 46: require and import in one process recognize the errors of each other', async () => {
  const source = `import { createRequire } from 'node:module'
import * as imported from 'mandatekit'
const required = createRequire(import.meta.url)('mandatekit')
for (const [thrower, knower] of [[imported, required], [required, imported]]) {
  const gateway = new thrower.GatewayClient({ baseUrl: 'http://127.0.0.1:2', apiKey: 'sandbox-key' })
  const error = await gateway.status('').catch((reason) => reason)
  console.log(error.code, knower.isMandateKitError(error))
}
`
  expect(await outputOf('both.mjs', source)).toBe('invalid_request true\ninvalid_request true\n')
})

test('case 79: an exported error class keeps its name in both formats and in a minified bundle', async () => {
  const names = `for (const entry of entries)
  for (const [name, value] of Object.entries(entry))
    if (/Error$/.test(name) && /^class/.test(String(value))) console.log(name, value.name)
const { AbortedError } = entries[0]
const error = new AbortedError('gone', {})
console.log('AbortedError', error.name, error.constructor.name)
`
  const imports = specifiers.map((name, index) => `import * as entry${index} from '${name}'\n`).join('')
  const list = specifiers.map((_, index) => `entry${index}`).join()
  await consumer.write('names.mjs', `${imports}const entries = [${list}]\n${names}`)
  const requires = specifiers.map((name) => `require('${name}')`).join()
  await consumer.write('names.cjs', `const entries = [${requires}]\n${names}`)
  await consumer.write('one.mjs', `import * as entry from 'mandatekit'\nconst entries = [entry]\n${names}`)
  const options = { bundle: true, minify: true, platform: 'node', format: 'esm', logLevel: 'error' } as const
  const bundle = { ...options, outfile: join(consumer.folder, 'bundled.mjs') }
  await build({ ...bundle, entryPoints: [join(consumer.folder, 'one.mjs')] })
  for (const file of ['names.mjs', 'names.cjs', 'bundled.mjs']) {
    const { output } = await consumer.run(process.execPath, file)
    const lines = output.trim().split('\n')
    expect(lines.pop()).toBe('AbortedError AbortedError AbortedError')
    expect(lines.length).toBeGreaterThanOrEqual(10)
    for (const line of lines) expect(line).toMatch(/^(\w+) \1$/)
  }
})

test('the installed command says its version and how it is used', async () => {
  expect(await consumer.run(command, '--version')).toEqual({ exitCode: 0, output: `${manifest.version}\n` })
  expect(await consumer.run('npx', '--no', '--', 'mandatekit', '--help')).toEqual({
    exitCode: 0,
    output: expect.stringContaining('Usage: mandatekit mock'),
  })
})

test('the installed command serves both areas and the panel, and ends when it is interrupted', async () => {
  const child = spawn(command, ['mock', '--port', '0'], { cwd: consumer.folder })
  try {
    let printed = ''
    child.stdout.setEncoding('utf8')
    for await (const text of child.stdout) {
      printed += text
      if (printed.includes('Stop it with Ctrl-C.')) break
    }
    const url = /^ +both APIs +(\S+)$/m.exec(printed)?.[1]
    expect((await fetch(`${url}/health`)).status).toBe(200)
    expect(await (await fetch(`${url}/_mock`)).text()).toContain('Mock control panel')
    const ended = once(child, 'close')
    child.kill('SIGINT')
    expect(await ended).toEqual([0, null])
  } finally {
    child.kill('SIGKILL')
  }
})
