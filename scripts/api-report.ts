import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Extractor, ExtractorConfig, ExtractorLogLevel, type IConfigFile } from '@microsoft/api-extractor'
import { entries } from './entries.ts'

// The exported surface of each built entry, as a report in api/ that is checked in and reviewed with every change.
// Without a flag this compares the reports with the build; with --write it updates them. Needs `npm run build`.

const projectFolder = fileURLToPath(new URL('..', import.meta.url))
const reportFolder = join(projectFolder, 'api')
const temporaryFolder = join(projectFolder, '.results/api')
const newFolder = join(temporaryFolder, 'new')
const write = process.argv.includes('--write')

/** Removes what differs between two builds of the same sources: the order of literals in a union, names of chunks. */
const comparable = (report: string): string =>
  report
    .replace(/"[^"\n]*"(?: \| "[^"\n]*")+/g, (union) => union.split(' | ').sort().join(' | '))
    .replace(/^(\/\/ dist\/[\w/]+?)(?:-[\w-]{8})?\.d\.ts:\d+:\d+/gm, '$1.d.ts')

/** `mocks/core` → `mocks-core.api.md`, the report's name in api/. */
const reportName = (entry: string): string => `${entry.replace(/\/index$/, '').replaceAll('/', '-')}.api.md`

function configuration(entry: string): ExtractorConfig {
  const none = { logLevel: ExtractorLogLevel.None }
  const configObject: IConfigFile = {
    projectFolder,
    mainEntryPointFilePath: join(projectFolder, `dist/${entry}.d.ts`),
    newlineKind: 'lf',
    compiler: { overrideTsconfig: tsconfig },
    apiReport: {
      includeForgottenExports: true,
      enabled: true,
      reportFileName: reportName(entry),
      reportFolder: newFolder,
      reportTempFolder: temporaryFolder,
    },
    docModel: { enabled: false },
    dtsRollup: { enabled: false },
    tsdocMetadata: { enabled: false },
    messages: {
      compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } },
      // Documentation is TypeDoc's part; here it is the surface alone, with what it forgets to export.
      extractorMessageReporting: {
        default: none,
        'ae-forgotten-export': { logLevel: ExtractorLogLevel.Warning, addToApiReportFile: true },
      },
      tsdocMessageReporting: { default: none },
    },
  }
  return ExtractorConfig.prepare({
    configObject,
    configObjectFullPath: undefined,
    packageJsonFullPath: join(projectFolder, 'package.json'),
  })
}

const tsconfig = {
  compilerOptions: {
    target: 'ES2023',
    lib: ['ES2023', 'DOM', 'DOM.Iterable', 'ESNext.Disposable'],
    module: 'ESNext',
    moduleResolution: 'bundler',
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
  },
  include: ['dist/**/*.d.ts'],
}

for (const folder of [reportFolder, newFolder]) mkdirSync(folder, { recursive: true })

for (const entry of Object.keys(entries).filter((name) => name !== 'mocks/cli')) {
  const name = reportName(entry)
  const problems: string[] = []
  Extractor.invoke(configuration(entry), {
    localBuild: true,
    messageCallback: (message) => {
      message.handled = true
      if (message.logLevel === 'error') problems.push(message.text)
    },
  })
  const path = join(reportFolder, name)
  const report = comparable(readFileSync(join(newFolder, name), 'utf8'))
  const isChanged = !existsSync(path) || readFileSync(path, 'utf8') !== report
  if (isChanged && write) writeFileSync(path, report)
  if (isChanged && !write) problems.push('The surface differs from the report. Review it with `npm run api`.')
  for (const problem of problems) console.error(`api/${name}: ${problem}`)
  if (problems.length > 0) process.exitCode = 1
  else console.log(`api/${name}: ${isChanged ? 'written' : 'agrees'}`)
}
