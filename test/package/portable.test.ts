import { join } from 'node:path'
import { build } from 'esbuild'
import { describe, expect, test } from 'vitest'
import { repository } from './project.ts'

/** The code of one built entry with its chunks, and the modules that it imports from elsewhere. */
async function bundle(entry: string) {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(repository, 'dist', entry)],
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    packages: 'external',
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
    expect(code).not.toMatch(/(?<![.\w$'"])(?:Buffer|process|require|__dirname|__filename)\s*[.(]/)
    expect(code).not.toMatch(/['"]node:/)
  })
})
