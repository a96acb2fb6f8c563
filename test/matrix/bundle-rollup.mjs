import { nodeResolve } from '@rollup/plugin-node-resolve'
import { rollup } from 'rollup'

const bundle = await rollup({
  input: 'load.mjs',
  plugins: [nodeResolve({ exportConditions: ['browser'] })],
  onwarn({ code, message, id = '' }) {
    // What rollup says about the inside of dependencies is theirs to mend.
    if (code === 'UNRESOLVED_IMPORT' || `${message} ${id}`.includes('node_modules/mandatekit/'))
      throw new Error(message)
  },
})
// The mock loads its pages when they are opened. Here they belong into the one file.
await bundle.write({ file: 'bundle.mjs', format: 'es', inlineDynamicImports: true })
