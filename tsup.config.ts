import { readFile } from 'node:fs/promises'
import { defineConfig, type Options } from 'tsup'
import { entries } from './scripts/entries.ts'

const { 'mocks/cli': _commandLine, ...libraries } = entries

/** Where a call begins that makes a schema, a definition or a mark of options. */
const DEFINITION =
  /(?<![\w.'"])(?=(?:authorized|response|enveloped|schema|field|openText|idText|textOf|textOrNull|absentable|listOf|input|filledText|oneOf|wholeNumber|optional|withDefault|unless|refined|strict|clientOptionsWith|callOptionsWith|object|list|orFunction|functionOption|objectWith|duration|z\s*\.\w+)(?:<[^()]*?>)?\()/g

/**
 * Marks what schemas are made of as calls without side effects. Bundlers cannot know that of calls across files, and
 * would carry the other area's endpoints and options into a bundle of one client.
 */
const pureSchemas: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'pure-schemas',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]src[\\/](?:[\w-]+[\\/])?[\w-]+\.ts$/ }, async ({ path }) => {
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
  // No source maps: they take more space than the code, which is readable without them (docs/decisions/0009).
  sourcemap: false,
  metafile: true,
  esbuildPlugins: [pureSchemas],
  // The package contains the OpenAPI documents once: the server imports them from the package.
  external: [/^node:/, /^mandatekit\/openapi\//],
  // The used part of zod/mini is inlined: importing all of it costs a process more than msw (docs/decisions/0008).
  noExternal: ['zod'],
  removeNodeProtocol: false,
  // Without its attribute, Node refuses the import of a JSON file.
  esbuildOptions: (options) => {
    options.supported = { 'import-attributes': true }
  },
  outDir: 'dist',
}

export default defineConfig([
  { ...shared, format: 'esm', entry: entries },
  // ky is published as ES modules only: it is inlined so that `require` and stock Jest can load this build.
  { ...shared, format: 'cjs', entry: libraries, noExternal: ['ky', 'zod'], treeshake: true },
  // One compiler makes the declarations of both formats.
  { ...shared, format: ['esm', 'cjs'], entry: libraries, dts: { only: true } },
])
