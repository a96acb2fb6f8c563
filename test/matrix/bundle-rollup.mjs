import { nodeResolve } from '@rollup/plugin-node-resolve'
import { rollup } from 'rollup'

const bundle = await rollup({
  input: 'load.mjs',
  plugins: [nodeResolve({ exportConditions: ['browser'] })],
  onwarn(warning) {
    throw new Error(warning.message)
  },
})
await bundle.write({ file: 'bundle.mjs', format: 'es' })
