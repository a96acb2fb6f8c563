import { join } from 'node:path'
import { build, transform } from 'esbuild'
import { describe, expect, test } from 'vitest'
import { repository } from './project.ts'

/** Globals of Node alone. esbuild renames them where they are read as globals, not where they are names of fields. */
const globalsOfNode = [
  'Buffer',
  'process',
  'require',
  'module',
  'global',
  '__dirname',
  '__filename',
  'setImmediate',
]
const MARK = 'GLOBAL_OF_NODE_'

/** The code of one built entry with its chunks, and the modules that it imports from elsewhere. */
async function bundle(entry: string) {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(repository, 'dist', entry)],
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    packages: 'external',
    define: Object.fromEntries(globalsOfNode.map((name) => [name, MARK + name])),
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
  test('imports no module beyond its own dependencies', async () => {
    const { imported } = await bundle(entry)
    expect(imported.filter((path) => !mayImport.includes(path))).toEqual([])
  })

  test('reads no global of Node', async () => {
    const { code } = await bundle(entry)
    expect(code.length).toBeGreaterThan(100)
    const read = globalsOfNode.filter((name) => code.includes(MARK + name))
    expect(read).toEqual([])
    expect(code.match(/['"]node:[^'"]*/g) ?? []).toEqual([])
  })
})

test('a global of Node in a bundle would be found, a field of that name would not', async () => {
  const define = Object.fromEntries(globalsOfNode.map((name) => [name, MARK + name]))
  const { code } = await transform('export const a = { process: b.process, d: process.env }', { define })
  expect(code.split(MARK).length - 1).toBe(1)
})
