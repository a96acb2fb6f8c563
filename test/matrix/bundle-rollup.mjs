import { nodeResolve } from '@rollup/plugin-node-resolve'
import { rollup } from 'rollup'

const bundle = await rollup({
  input: 'load.mjs',
  plugins: [nodeResolve({ exportConditions: ['browser'] })],
  onwarn(warning) {
    // About comments of dependencies: tree shaking suffers a little, the bundle's behaviour does not.
    if (warning.code === 'INVALID_ANNOTATION') return
    throw new Error(warning.message)
  },
})
await bundle.write({ file: 'bundle.mjs', format: 'es' })
