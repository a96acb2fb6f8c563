import type { Options } from 'tsup'
import { defineConfig } from 'tsup'
import { entries } from './scripts/entries.ts'

const { 'mocks/cli': _commandLine, ...libraries } = entries

const shared: Options = {
  target: 'es2022',
  platform: 'neutral',
  // Chunks are shared between the entries of a format, so that no class exists twice and `instanceof` holds.
  splitting: true,
  treeshake: false,
  sourcemap: true,
  dts: true,
  metafile: true,
  external: [/^node:/],
  removeNodeProtocol: false,
  outDir: 'dist',
}

/** Files of their own, so that a bundle of one client has nothing of the other: what no client imports stays out whole. */
const parts = { 'client/subscriptions': 'src/subscriptions.ts', 'client/gateway': 'src/gateway.ts' }

export default defineConfig([
  { ...shared, format: 'esm', entry: { ...entries, ...parts }, dts: { entry: libraries } },
  // ky is published as ES modules only: it is inlined so that `require` and stock Jest can load this build.
  { ...shared, format: 'cjs', entry: libraries, noExternal: ['ky'] },
])
