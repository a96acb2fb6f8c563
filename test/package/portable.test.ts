import { join } from 'node:path'
import { build, transform } from 'esbuild'
import { describe, expect, test } from 'vitest'
import { packedPackage } from './packed.ts'
import { repository } from './project.ts'

await packedPackage()

/** Globals of Node. esbuild renames them as globals, not as names of fields. */
const globalsOfNode = 'Buffer process require module global __dirname __filename setImmediate'.split(' ')
const MARK = 'GLOBAL_OF_NODE_'
const define = Object.fromEntries(globalsOfNode.map((name) => [name, MARK + name]))

/** The code of one built entry with its chunks, and the modules that it imports from elsewhere. */
async function bundle(entry: string) {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(repository, 'dist', entry)],
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    packages: 'external',
    define,
    write: false,
    metafile: true,
    outdir: '/',
    legalComments: 'none',
    logLevel: 'error',
  })
  const imported = Object.values(metafile.outputs).flatMap((output) => output.imports.map((one) => one.path))
  return { code: outputFiles.map((file) => file.text).join('\n'), imported: [...new Set(imported)].sort() }
}

describe.each([
  { entry: 'index.js', mayImport: ['ky', 'zod/mini'] },
  { entry: 'notifications.js', mayImport: ['zod/mini'] },
  { entry: 'stores.js', mayImport: ['zod/mini'] },
  { entry: 'mocks/core.js', mayImport: ['zod/mini'] },
  { entry: 'mocks/index.js', mayImport: ['msw', 'zod/mini'] },
])('the built $entry', ({ entry, mayImport }) => {
  test('case 48: imports no module but its dependencies', async () => {
    const { imported } = await bundle(entry)
    expect(imported.filter((path) => !mayImport.includes(path))).toEqual([])
  })

  test('case 48: uses no global of Node', async () => {
    const { code } = await bundle(entry)
    expect(code.length).toBeGreaterThan(100)
    const read = globalsOfNode.filter((name) => code.includes(MARK + name))
    expect(read).toEqual([])
    expect(code.match(/['"]node:[^'"]*/g) ?? []).toEqual([])
  })
})

test('this test finds a global of Node, and ignores a field of that name', async () => {
  const { code } = await transform('export const a = { process: b.process, d: process.env }', { define })
  expect(code.split(MARK).length - 1).toBe(1)
})
