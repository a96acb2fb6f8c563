import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { Outcome } from './project.ts'
import { ConsumerProject, repository, strictOptions } from './project.ts'

const succeeded: Outcome = { exitCode: 0, output: expect.any(String) }

type Conditions = Record<'import' | 'require', { types: string; default: string }>

const manifest: { bin: Record<string, string>; exports: Record<string, Conditions | string> } = JSON.parse(
  await readFile(join(repository, 'package.json'), 'utf8'),
)

/** The specifiers of the package's code entries: `mandatekit`, `mandatekit/mocks`, … */
const specifiers = Object.keys(manifest.exports)
  .filter((subpath) => subpath !== './package.json')
  .map((subpath) => `mandatekit${subpath.slice(1)}`)

let consumer: ConsumerProject
let installed: string[]

beforeAll(async () => {
  consumer = await ConsumerProject.withPackage(inject('tarball'))
  installed = (await readdir(join(consumer.folder, 'node_modules'))).filter((name) => !name.startsWith('.'))
  for (const name of ['msw', '@types/node']) await consumer.link(name)
})

afterAll(() => consumer.remove())

describe('the tarball', () => {
  test('holds every file that `exports` and `bin` name', () => {
    const targets = Object.values(manifest.exports).flatMap((target) =>
      typeof target === 'string' ? target : Object.values(target).flatMap((one) => Object.values(one)),
    )
    const named = [...targets, ...Object.values(manifest.bin)].map((path) => path.replace('./', ''))
    expect(inject('packedFiles')).toEqual(expect.arrayContaining(named))
  })

  test('holds the build, the licenses and the documents, and nothing else', () => {
    const others = inject('packedFiles').filter(
      (path) => !path.startsWith('dist/') && !path.startsWith('docs/'),
    )
    expect(others.sort()).toEqual(['CHANGELOG.md', 'LICENSE', 'README.md', 'llms.txt', 'package.json'])
    expect(inject('packedFiles')).toContain('dist/THIRD-PARTY-LICENSES.txt')
  })

  test('adds itself, ky and zod to an empty project', () => {
    expect(installed.sort()).toEqual(['ky', 'mandatekit', 'zod'])
  })
})

describe.each(specifiers)('%s', (specifier) => {
  test('loads with import and with require, with the same names', async () => {
    const print = `.log(Object.keys(entry).filter((name) => name !== '__esModule').sort().join())`
    await consumer.write('load.mjs', `import * as entry from '${specifier}'\nconsole${print}\n`)
    await consumer.write('load.cjs', `const entry = require('${specifier}')\nconsole${print}\n`)
    const imported = await consumer.run(process.execPath, 'load.mjs')
    const required = await consumer.run(process.execPath, 'load.cjs')
    expect(imported).toEqual(succeeded)
    expect(imported.output.trim()).not.toBe('')
    expect(required).toEqual(imported)
  })
})

const languageOptions = {
  nodenext: { module: 'nodenext', moduleResolution: 'nodenext' },
  bundler: { module: 'esnext', moduleResolution: 'bundler' },
}

describe.each(Object.entries(languageOptions))('types under moduleResolution %s', (resolution, options) => {
  const compilerOptions = {
    ...options,
    ...strictOptions,
  }

  test("the package's own declarations hold without skipLibCheck", async () => {
    const source = specifiers
      .map((specifier, index) => `export * as entry${index} from '${specifier}'\n`)
      .join('')
    await consumer.write('entries.ts', source)
    await consumer.write('entries.cts', source)
    const files = resolution === 'nodenext' ? ['entries.ts', 'entries.cts'] : ['entries.ts']
    await consumer.write(
      `tsconfig.${resolution}.entries.json`,
      JSON.stringify({ compilerOptions: { ...compilerOptions, skipLibCheck: false, types: [] }, files }),
    )
    const { output } = await consumer.runTool('tsc', '-p', `tsconfig.${resolution}.entries.json`)
    expect(
      output.split('\n').filter((line) => /^(error |entries\.|node_modules\/mandatekit\/)/.test(line)),
    ).toEqual([])
  })
})

test('require and import in one process know the errors of each other', async () => {
  await consumer.write(
    'both.mjs',
    `import { createRequire } from 'node:module'
import * as imported from 'mandatekit'
const required = createRequire(import.meta.url)('mandatekit')
for (const [thrower, knower] of [[imported, required], [required, imported]]) {
  const gateway = new thrower.GatewayClient({ baseUrl: 'http://127.0.0.1:2', apiKey: 'sandbox-key' })
  const error = await gateway.status('').catch((reason) => reason)
  console.log(error.code, knower.isMandateKitError(error))
}
`,
  )
  const { output } = await consumer.run(process.execPath, 'both.mjs')
  expect(output).toBe('invalid_request true\ninvalid_request true\n')
})
