import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { Session } from 'node:inspector/promises'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { createMock } from '../mocks/core.ts'
import { GatewayClient, SubscriptionsClient } from '../src/index.ts'

// Counts the files and functions of this package that a call runs through when it is warm (V8 coverage).
//   npm run path              a row for each call
//   npm run path -- --names   also each file with its functions
// The exit code is 1 when a call exceeds its limits.

interface Path {
  /** What runs, and in which folders its functions are counted. */
  readonly what: string
  readonly folders: readonly string[]
  /** What it may run through today. */
  readonly limit: { readonly files: number; readonly functions: number }
  /** Where the limits shall come to. */
  readonly target: { readonly files: number; readonly functions?: number }
  /** Sets up everything around the call. */
  readonly prepare: () => Promise<() => Promise<unknown>>
}

const REQUEST = {
  msisdn: '+99900000001',
  amount: 2500,
  currency: 'BDT',
  redirect_uri: 'https://shop.example/paid',
}
const RESPONSE = {
  id: 'ch_1',
  ...REQUEST,
  status: 'pending_confirmation',
  outcome: 'PENDING',
  confirmation_id: 'conf_1',
  confirmation_url: 'https://gateway.example/confirm/conf_1',
  created_at: '2026-12-01T06:00:00.000Z',
}
const DAYS = 31

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(202, { 'content-type': 'application/json' }).end(JSON.stringify(RESPONSE))
  })
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

/** A charge by the client, over HTTP to a server that is no part of this package. */
const prepareClient = async () => {
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const gateway = new GatewayClient({ baseUrl, apiKey: 'key' })
  await gateway.charge(REQUEST)
  return () => gateway.charge(REQUEST)
}

/** A charge by the platform's own Request, through the mock. */
const prepareMock = async () => {
  const { fetch, clientOptions } = createMock()
  const { baseUrl, apiKey } = clientOptions.gateway
  const charge = async (key: string) => {
    const response = await fetch(`${baseUrl}/api/v1/mfs/charges`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${apiKey}`,
        'Content-Type': 'application/json',
        'Idempotency-Key': key,
      },
      body: JSON.stringify(REQUEST),
    })
    if (response.status !== 202) throw new Error(`The charge ended with ${response.status}.`)
    return response.json()
  }
  await charge('first')
  return () => charge('second')
}

/** A month of a daily subscription, each payment delivered to a receiver. */
const prepareMonth = async () => {
  const mock = createMock({ clock: new Date('2026-12-01T00:00:00Z') })
  const client = new SubscriptionsClient({ ...mock.clientOptions.subscriptions, fetch: mock.fetch })
  const { invoiceID } = await client.subscribe({
    requestID: 'order-1',
    start: '2026-12-01',
    end: '2027-11-30',
    cycle: 'DAILY',
    amount: '25.00',
    userReturnURL: 'https://shop.example/return',
  })
  mock.payer.authorize(invoiceID)
  let delivered = 0
  mock.notifications.connect(async () => {
    delivered += 1
    return new Response()
  })
  await mock.clock.advance({ days: DAYS })
  return async () => {
    delivered = 0
    await mock.clock.advance({ days: DAYS })
    if (delivered !== DAYS) throw new Error(`${delivered} notifications were delivered instead of ${DAYS}.`)
  }
}

const paths: readonly Path[] = [
  {
    what: 'client: a charge',
    folders: ['src/'],
    limit: { files: 16, functions: 90 },
    target: { files: 14 },
    prepare: prepareClient,
  },
  {
    what: 'mock: a charge',
    folders: ['mocks/', 'src/contract/'],
    limit: { files: 12, functions: 60 },
    target: { files: 12, functions: 60 },
    prepare: prepareMock,
  },
  {
    what: `mock: ${DAYS} days with ${DAYS} deliveries`,
    folders: ['mocks/', 'src/contract/'],
    limit: { files: 10, functions: 89 },
    target: { files: 10 },
    prepare: prepareMonth,
  },
]

const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

const root = new URL('..', import.meta.url)
const lineAt = (file: string, offset: number): number =>
  readFileSync(new URL(file, root), 'utf8').slice(0, offset).split('\n').length

/** The functions that run during `call`, by file. */
async function functionsOf(call: () => Promise<unknown>, folders: readonly string[]) {
  // This sets every count to zero.
  await session.post('Profiler.takePreciseCoverage')
  await call()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const files = new Map<string, string[]>()
  for (const { url, functions } of result) {
    const file = url.startsWith(root.href) ? url.slice(root.href.length) : ''
    if (!folders.some((folder) => file.startsWith(folder))) continue
    const names = functions.flatMap(({ functionName, ranges: [range] }) =>
      range === undefined || range.count === 0
        ? []
        : [functionName || `line ${lineAt(file, range.startOffset)}`],
    )
    if (names.length > 0) files.set(file, names)
  }
  return files
}

const { values } = parseArgs({ options: { names: { type: 'boolean', default: false } } })
const rows: Record<string, { today: number; target: number | string; limit: number }> = {}
for (const { what, folders, limit, target, prepare } of paths) {
  const files = await functionsOf(await prepare(), folders)
  const today = { files: files.size, functions: [...files.values()].flat().length }
  if (values.names) {
    console.log(what)
    for (const [file, functions] of files) console.log(`  ${file}: ${functions.join(', ')}`)
  }
  for (const unit of ['files', 'functions'] as const) {
    rows[`${what}: ${unit}`] = { today: today[unit], target: target[unit] ?? '–', limit: limit[unit] }
    if (today[unit] <= limit[unit]) continue
    console.error(`${what} runs through ${today[unit]} ${unit}: more than the limit of ${limit[unit]}.`)
    process.exitCode = 1
  }
}
console.table(rows)

session.disconnect()
server.close()
server.closeAllConnections()
