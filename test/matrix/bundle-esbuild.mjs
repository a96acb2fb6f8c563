import { build } from 'esbuild'

await build({
  entryPoints: ['load.mjs'],
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'neutral',
  outfile: 'bundle.mjs',
  logLevel: 'error',
})
