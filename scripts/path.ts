import { createServer } from 'node:http'
import { Session } from 'node:inspector/promises'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { GatewayClient } from '../src/index.ts'

// Prints the files of src, and the functions in them, that one warm charge runs through (V8 coverage).

const MOST_FILES = 14
const REQUEST = {
  msisdn: '+99900000001',
  amount: 2500,
  currency: 'BDT',
  redirect_uri: 'https://shop.example/paid',
}
const CHARGE = { id: 'ch_1', ...REQUEST, status: 'pending_confirmation', outcome: 'PENDING' }
const CONFIRMATION = { confirmation_id: 'conf_1', confirmation_url: 'https://gateway.example/confirm/conf_1' }
const RESPONSE = JSON.stringify({ ...CHARGE, ...CONFIRMATION, created_at: '2026-12-01T06:00:00.000Z' })

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(202, { 'content-type': 'application/json' }).end(RESPONSE)
  })
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const gateway = new GatewayClient({ baseUrl, apiKey: 'key' })
await gateway.charge(REQUEST)

const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
await gateway.charge(REQUEST)
const { result } = await session.post('Profiler.takePreciseCoverage')
session.disconnect()
server.close()
server.closeAllConnections()

const src = new URL('../src/', import.meta.url).href
const rows = result
  .filter(({ url }) => url.startsWith(src))
  .map(({ url, functions }) => ({
    file: fileURLToPath(url).slice(fileURLToPath(src).length),
    functions: functions.filter(({ ranges: [range] }) => (range?.count ?? 0) > 0).length,
  }))
  .filter(({ functions }) => functions > 0)
console.table(rows)
const total = rows.reduce((sum, { functions }) => sum + functions, 0)
console.log(
  `A warm charge runs through ${total} functions in ${rows.length} files of src (at most ${MOST_FILES}).`,
)
if (rows.length > MOST_FILES) process.exitCode = 1
