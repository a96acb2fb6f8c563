import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Extractor, ExtractorConfig, ExtractorLogLevel, type IConfigFile } from '@microsoft/api-extractor'
import { entries } from './entries.ts'

// The exported surface of each built entry, as a report in api/ that is checked in and reviewed with every change.
// Without a flag this compares the reports with the build; with --write it updates them. Needs `npm run build`.

const projectFolder = fileURLToPath(new URL('..', import.meta.url))
const reportFolder = join(projectFolder, 'api')
const temporaryFolder = join(projectFolder, '.results/api')
const write = process.argv.includes('--write')

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
      reportFolder,
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

for (const folder of [reportFolder, temporaryFolder]) mkdirSync(folder, { recursive: true })

for (const entry of Object.keys(entries).filter((name) => name !== 'mocks/cli')) {
  const isNew = !existsSync(join(reportFolder, reportName(entry)))
  const problems: string[] = []
  const { apiReportChanged } = Extractor.invoke(configuration(entry), {
    localBuild: write,
    messageCallback: (message) => {
      message.handled = true
      if (message.logLevel === 'error') problems.push(message.text)
    },
  })
  const changed = isNew || apiReportChanged
  if (changed && !write) problems.push('The surface differs from the report. Review it with `npm run api`.')
  for (const problem of problems) console.error(`api/${reportName(entry)}: ${problem}`)
  if (problems.length > 0) process.exitCode = 1
  else console.log(`api/${reportName(entry)}: ${changed ? 'written' : 'agrees'}`)
}
