import { defineConfig, type Options } from 'tsup'
import { entries } from './scripts/entries.ts'

const { 'mocks/cli': _commandLine, ...libraries } = entries

/**
 * Files that no subpath exports. Because each client is an entry, its code and its area's definitions stand in chunks
 * of their own, and a bundler drops the chunks of the client that a bundle does not use.
 */
const clients = {
  'gateway-client': 'src/gateway-client.ts',
  'subscriptions-client': 'src/subscriptions-client.ts',
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
  // The package contains the OpenAPI documents once: the server imports them from the package.
  external: [/^node:/, /^mandatekit\/openapi\//],
  // The used part of zod's core is inlined: importing all of zod costs a process more than msw (docs/decisions/0008).
  noExternal: ['zod'],
  removeNodeProtocol: false,
  // Without its attribute, Node refuses the import of a JSON file.
  esbuildOptions: (options) => {
    options.supported = { 'import-attributes': true }
  },
  outDir: 'dist',
}

const modules: Options = { ...shared, format: 'esm', entry: { ...entries, ...clients } }
// ky is published as ES modules only: it is inlined so that `require` and stock Jest can load this build.
const commonJs: Options = {
  ...shared,
  format: 'cjs',
  entry: libraries,
  noExternal: ['ky', 'zod'],
  treeshake: true,
}
// One compiler makes the declarations of both formats.
const declarations: Options = { ...shared, format: ['esm', 'cjs'], entry: libraries, dts: { only: true } }

// With `--no-dts`, tsup would make the code of the last part once more, over the first.
export default defineConfig(({ dts }) =>
  dts === false ? [modules, commonJs] : [modules, commonJs, declarations],
)
