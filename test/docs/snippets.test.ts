import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { packedPackage } from '../package/packed.ts'
import { ConsumerProject, repository, strictOptions } from '../package/project.ts'
import { sized } from '../support/sizes.ts'
import { allSnippets } from './documents.ts'
import type { ProgramResult } from './run-programs.ts'

const packed = await packedPackage()

const snippets = await allSnippets()
const programs = snippets.filter((snippet) => !snippet.isTest)
const tests = snippets.filter((snippet) => snippet.isTest)

/** The part of vitest's JSON report that is read here. */
interface TestReport {
  readonly testResults: { name: string; status: string; message: string; assertionResults: unknown[] }[]
}

let consumer: ConsumerProject

beforeAll(async () => {
  consumer = await ConsumerProject.withPackage(packed)
  const manifest = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8'))
  for (const name of Object.keys(manifest.devDependencies)) await consumer.link(name)
  for (const { file, text } of snippets) await consumer.write(file, text)
})

afterAll(() => consumer.remove())

// A quick run compiles the declarations themselves with `nodenext`, in the tests of the packed package.
describe.each([
  { resolution: 'bundler', module: 'esnext' },
  ...sized([{ resolution: 'nodenext', module: 'nodenext' }], []),
])('under moduleResolution $resolution', ({ resolution, module }) => {
  let findings: string[]

  beforeAll(async () => {
    const options = { module, moduleResolution: resolution, moduleDetection: 'force', ...strictOptions }
    const files = snippets.map(({ file }) => file)
    const configuration = `tsconfig.${resolution}.json`
    await consumer.write(configuration, JSON.stringify({ compilerOptions: options, files }))
    const { output } = await consumer.compile(configuration)
    findings = output.split('\n').filter((line) => line !== '')
  })

  test('the compiler reports nothing outside the snippets', () => {
    expect(findings.filter((line) => !snippets.some(({ file }) => line.startsWith(file)))).toEqual([])
  })

  test.each(snippets)('the snippet at $place type-checks', ({ file }) => {
    expect(findings.filter((line) => line.startsWith(file))).toEqual([])
  })
})

describe('programs', () => {
  let results: Record<string, ProgramResult>

  beforeAll(async () => {
    const runner = fileURLToPath(new URL('run-programs.ts', import.meta.url))
    const files = programs.map(({ file }) => file)
    const { exitCode, output } = await consumer.run(process.execPath, runner, 'programs.json', ...files)
    expect(exitCode, output).toBe(0)
    results = JSON.parse(await readFile(join(consumer.folder, 'programs.json'), 'utf8'))
  })

  test.each(programs)('the snippet at $place runs and prints what its comments say', ({ file, promises }) => {
    const result = results[file]
    expect(result).toMatchObject({ ended: 'well' })
    const printed = (result?.output ?? '').split('\n')
    // `// true: a reason` promises the line `true`.
    const broken = promises.filter(
      (text) => ![text, text.replace(/: .*$/, '')].some((line) => printed.includes(line)),
    )
    expect(broken, result?.output).toEqual([])
  })
})

describe('tests', () => {
  let report: TestReport

  beforeAll(async () => {
    await consumer.write('vitest.config.mjs', 'export default { test: { testTimeout: 20_000 } }\n')
    const vitest = join('node_modules', 'vitest', 'vitest.mjs')
    const reporting = ['--reporter=json', '--outputFile=tests.json']
    const run = await consumer.run(process.execPath, vitest, 'run', ...reporting)
    report = JSON.parse(await readFile(join(consumer.folder, 'tests.json'), 'utf8').catch(() => '{}'))
    expect(report.testResults, run.output).toBeDefined()
  })

  test.each(tests)('the snippet at $place passes', ({ file }) => {
    const result = report.testResults.find(({ name }) => name.endsWith(`/${file}`))
    expect(result).toMatchObject({ status: 'passed' })
    expect(result?.assertionResults.length).toBeGreaterThan(0)
  })
})
