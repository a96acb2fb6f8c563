import { readFileSync, writeFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { entries } from './entries.ts'

// The fields of package.json that name built files follow from the build entries. Without a flag this checks that they
// do; with --write it makes them so.

const file = new URL('../package.json', import.meta.url)
const manifest: Record<string, unknown> = JSON.parse(readFileSync(file, 'utf8'))

function subpath(entry: string): string {
  return entry === 'index' ? '.' : `./${entry.replace(/\/index$/, '')}`
}

function conditions(entry: string) {
  return {
    import: { types: `./dist/${entry}.d.ts`, default: `./dist/${entry}.js` },
    require: { types: `./dist/${entry}.d.cts`, default: `./dist/${entry}.cjs` },
  }
}

const libraries = Object.keys(entries).filter((entry) => entry !== 'mocks/cli')
const subpaths = libraries.filter((entry) => entry !== 'index')
const expected = {
  // Compilers with `moduleResolution: node10` do not read `exports`. They belong to CommonJS projects.
  main: './dist/index.cjs',
  types: './dist/index.d.cts',
  typesVersions: {
    '*': Object.fromEntries(subpaths.map((entry) => [subpath(entry).slice(2), [`./dist/${entry}.d.cts`]])),
  },
  exports: {
    ...Object.fromEntries(libraries.map((entry) => [subpath(entry), conditions(entry)])),
    './openapi/*.json': './openapi/*.json',
    './package.json': './package.json',
  },
  bin: { mandatekit: 'dist/mocks/cli.js' },
}

const wrong = Object.entries(expected)
  .filter(([key, value]) => !isDeepStrictEqual(manifest[key], value))
  .map(([key]) => key)

if (process.argv.includes('--write')) {
  writeFileSync(file, `${JSON.stringify({ ...manifest, ...expected }, null, 2)}\n`)
} else if (wrong.length > 0) {
  console.error(`package.json: ${wrong.join(', ')} must follow from the build entries.`)
  console.error('Run `npm run exports` to write them from scripts/entries.ts.')
  process.exitCode = 1
}
