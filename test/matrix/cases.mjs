// What responses and failures prove about a call, in plain JavaScript that any runtime can run: each row is the list of
// responses that a server gives, and how the call must end, on every runtime alike.

const charge = (client) =>
  client.charge({
    msisdn: '8801700000001',
    amount: 250,
    currency: 'BDT',
    redirect_uri: 'https://shop.example/paid',
  })
const confirm = (client) => client.confirm('conf_1', { otp: '123456' })
const read = (client) => client.status('ch_1')

const object = { id: 'ch_1', status: 'succeeded', confirmation_id: 'conf_1' }
const json = JSON.stringify
const created = json(object)
const refusal = json({ error: { code: 'no', message: 'x' } })
const running = json({ error: { code: 'idempotency_key_in_use', message: 'x' } })
const reply = (status, body = '', headers = {}) => ({ status, body, headers })

/** `responses`: the last one repeats. `cut`: the connection closes instead. The end: outcome, code and attempts. */
export const rows = [
  // Kind A: what a response proves.
  ['409 while the key is in use', charge, [reply(409, running), reply(202, created)], 'success 2'],
  ['409 that stays', charge, [reply(409, running)], 'unknown api_error 3'],
  ['409 without a key', confirm, [reply(409, running)], 'rejected api_error 1'],
  ['422 with the created object', charge, [reply(422, created)], 'unknown api_error 1'],
  ['422 with an error', charge, [reply(422, refusal)], 'rejected api_error 1'],
  ['520 of a CDN', charge, [reply(520), reply(202, created)], 'success 2'],
  ['520 without a key', confirm, [reply(520)], 'unknown api_error 1'],
  [
    'a redirect',
    charge,
    [reply(302, '', { location: 'http://127.0.0.1:9/' })],
    'unknown unexpected_response 1',
  ],
  ['JSON behind a warning', charge, [reply(202, `Warning: x\n${created}`)], 'unknown unexpected_response 1'],
  ['JSON cut off', charge, [reply(202, created.slice(0, 20)), reply(202, created)], 'success 2'],
  ['an error in a 200', confirm, [reply(200, refusal)], 'rejected api_error 1'],
  // Kind B: shared state ends.
  [
    'no request remains, then the window ends',
    read,
    [reply(429, '', limit(0)), reply(200, created)],
    'success 2',
  ],
  // Kind E: what the wire gives.
  ['a byte order mark', read, [reply(200, `\uFEFF${created}`)], 'success 1'],
  ['Retry-After of 7 s', read, [reply(503, '', { 'retry-after': '7' }), reply(200, created)], 'success 2'],
  ['a closed connection', charge, ['cut', reply(202, created)], 'success 2'],
  ['a closed connection without a key', confirm, ['cut'], 'unknown connection_failed 1'],
]

function limit(remaining) {
  const reset = String(Date.parse('2026-11-28T12:00:30Z') / 1000)
  return { 'x-ratelimit-limit': '9', 'x-ratelimit-remaining': String(remaining), 'x-ratelimit-reset': reset }
}

const skippingClock = () => {
  let time = Date.parse('2026-11-28T12:00:00Z')
  const sleep = async (milliseconds) => {
    time += milliseconds
  }
  return { now: () => time, sleep }
}

const endOf = async (call, client) => {
  try {
    return `success ${(await call(client).withResponse()).response.attempts}`
  } catch ({ outcome, code, attempts }) {
    return `${outcome} ${code} ${attempts}`
  }
}

/** Plays every row. `open` makes a server of a row: its client options, and the number of requests it received. */
export const playCases = async ({ GatewayClient }, open) => {
  for (const [name, call, responses, expected] of rows) {
    const { options, received, close } = await open((index) => responses[index] ?? responses.at(-1))
    const client = new GatewayClient({ apiKey: 'key-of-the-matrix', clock: skippingClock(), ...options })
    const end = await endOf(call, client)
    if (end !== expected) throw new Error(`${name}: ${end} instead of ${expected}`)
    const attempts = Number(expected.split(' ').at(-1))
    if (received() !== attempts) throw new Error(`${name}: ${received()} requests for ${attempts} attempts`)
    await close()
  }
  return `${rows.length} responses prove the same here`
}

/** A server in the same process, behind a `fetch` that makes the runtime's own responses. */
export const throughFetch = async (respond) => {
  let count = 0
  const fetch = async () => {
    const response = respond(count)
    count += 1
    if (response === 'cut') throw new TypeError('The connection closed.')
    const { status, body, headers } = response
    return new Response(body, { status, headers })
  }
  const options = { baseUrl: 'https://gateway.example', fetch }
  return { options, received: () => count, close: async () => undefined }
}
