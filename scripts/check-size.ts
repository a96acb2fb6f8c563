import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

// What a bundle pays for the client: minified, gzipped, dependencies included. To raise a limit is a decision with a
// reason in docs/decisions/0006-what-the-client-may-weigh.md. ky takes 9.2 kB, the used part of zod's core 2.3 kB.

const budgets = [
  {
    what: 'SubscriptionsClient',
    source: "export { SubscriptionsClient } from './dist/index.js'",
    limit: 33_100,
  },
  {
    what: 'GatewayClient',
    source: "export { GatewayClient } from './dist/index.js'",
    limit: 28_650,
  },
  { what: 'an unused import', source: "import './dist/index.js'", limit: 1000 },
]

for (const { what, source, limit } of budgets) {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: '.', loader: 'js' },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    write: false,
    logLevel: 'error',
  })
  const size = outputFiles.reduce((sum, file) => sum + gzipSync(file.contents, { level: 9 }).length, 0)
  console.log(`${what}: ${size} of ${limit} bytes`)
  if (size > limit) {
    console.error(`${what} is over its budget by ${size - limit} bytes.`)
    process.exitCode = 1
  }
}
