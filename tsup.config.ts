import { readFile } from 'node:fs/promises'
import type { Options } from 'tsup'
import { defineConfig } from 'tsup'
import { entries } from './scripts/entries.ts'

const { 'mocks/cli': _commandLine, ...libraries } = entries

/** Where a call begins that makes a schema or an endpoint's definition. */
const DEFINITION =
  /(?<![\w.])(?=(?:endpoint|answer|field|openText|listOf|input|oneOf|wholeNumber|optionalCount|z\s*\.\w+)(?:<[^()]*?>)?\()/g

/**
 * Marks what the contract is made of as calls without side effects. Bundlers cannot know that of calls across files, and
 * would carry the other area's endpoints into a bundle of one client.
 */
const pureContract: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'pure-contract',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]src[\\/]contract[\\/][\w-]+\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8')
      return { contents: source.replace(DEFINITION, '/* @__PURE__ */ '), loader: 'ts' }
    }),
}

const shared: Options = {
  target: 'es2022',
  platform: 'neutral',
  // Chunks are shared between the entries of a format, so that no class exists twice and `instanceof` holds.
  splitting: true,
  treeshake: false,
  sourcemap: true,
  dts: true,
  metafile: true,
  esbuildPlugins: [pureContract],
  external: [/^node:/],
  removeNodeProtocol: false,
  outDir: 'dist',
}

export default defineConfig([
  { ...shared, format: 'esm', entry: entries, dts: { entry: libraries } },
  // ky is published as ES modules only: it is inlined so that `require` and stock Jest can load this build.
  { ...shared, format: 'cjs', entry: libraries, noExternal: ['ky'] },
])
