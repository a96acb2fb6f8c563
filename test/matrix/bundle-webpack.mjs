import { promisify } from 'node:util'
import webpack from 'webpack'

const statistics = await promisify(webpack)({
  mode: 'production',
  target: 'web',
  entry: './load.mjs',
  context: process.cwd(),
  output: { path: process.cwd(), filename: 'bundle.mjs' },
  // The mock loads its pages when they are opened. Here they belong into the one file.
  module: { parser: { javascript: { dynamicImportMode: 'eager' } } },
  performance: { hints: false },
})
if (statistics.hasErrors() || statistics.hasWarnings()) throw new Error(statistics.toString())
