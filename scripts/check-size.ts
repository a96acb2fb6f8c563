import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

// What a browser bundle pays for the client: minified, gzipped, dependencies included. `limit` is what holds today: to
// raise it is a decision, with what it buys, in docs/decisions/0006-what-the-client-may-weigh.md. `aim` is where it
// shall go. ky takes 9.2 kB of it, what the contract uses of zod/mini 5.7 kB.

const budgets = [
  {
    what: 'SubscriptionsClient',
    source: "export { SubscriptionsClient } from './dist/index.js'",
    limit: 38_700,
    aim: 18_000,
  },
  {
    what: 'GatewayClient',
    source: "export { GatewayClient } from './dist/index.js'",
    limit: 32_600,
    aim: 18_000,
  },
  { what: 'an unused import', source: "import './dist/index.js'", limit: 1000, aim: 1000 },
]

for (const { what, source, limit, aim } of budgets) {
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
  console.log(
    `${what}: ${size} of ${limit} bytes${size > aim ? `, ${size - aim} above the aim of ${aim}` : ''}`,
  )
  if (size > limit) {
    console.error(`${what} is over its budget by ${size - limit} bytes.`)
    process.exitCode = 1
  }
}
