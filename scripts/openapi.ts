import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { readDocstrings } from './openapi/docstrings.ts'
import { documentOf } from './openapi/document.ts'
import { takeTour } from './openapi/tour.ts'

// Writes the OpenAPI documents of both areas, from the contract, its docstrings and a tour of the mock. With --check,
// it compares the files with these sources.

const folder = new URL('../openapi/', import.meta.url)

const current = (file: URL): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

const [tour, docstrings] = [await takeTour(), readDocstrings()]
for (const area of ['subscriptions', 'gateway'] as const) {
  const file = new URL(`${area}.json`, folder)
  const text = `${JSON.stringify(documentOf(area, tour, docstrings))}\n`
  if (!process.argv.includes('--check')) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(file, text)
  } else if (current(file) !== text) {
    console.error(`openapi/${area}.json differs from the contract or the mock. Run \`npm run openapi\`.`)
    process.exitCode = 1
  }
}
