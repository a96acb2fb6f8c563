import { promisify } from 'node:util'
import webpack from 'webpack'

const statistics = await promisify(webpack)({
  mode: 'production',
  target: 'web',
  entry: './load.mjs',
  context: process.cwd(),
  output: { path: process.cwd(), filename: 'bundle.mjs' },
  performance: { hints: false },
})
if (statistics.hasErrors() || statistics.hasWarnings()) throw new Error(statistics.toString())
