import { readOptions } from '../../mocks/domain/option-table.ts'
import { behaviorNames, testNumbers } from '../../mocks/gateway/behaviors.ts'
import { type GatewayOptions, gatewayTable } from '../../mocks/gateway/options.ts'

/* The random inputs of the differential test: options, seeds and bodies. */

/** The seed of the game, and the number of steps. */
export const [seed = '1', wanted = '60000'] = process.argv.slice(2)

let word = Number(seed) * 2654435761
const random = (): number => {
  word = (word + 0x6d2b79f5) | 0
  let mixed = Math.imul(word ^ (word >>> 15), 1 | word)
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
}
export const below = (end: number): number => Math.floor(random() * end)
export const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item
export const chance = (probability: number): boolean => random() < probability

export const HOUR = 3_600_000
export const START = Date.UTC(2026, 10, 28, 12)
export const KEYS = ['key-a', 'key-b']
export const NUMBERS = [
  ...Object.values(testNumbers),
  '8801700000001',
  '+8801700000001',
  '+8801700000002',
  '+123456',
  '+12',
]
const DELAYS = [false, 0, { minutes: 30 }, { hours: 1 }, { hours: 2 }, { hours: 24 }] as const
const STATUSES = ['pending_confirmation', 'pending_retry', 'succeeded', 'failed', 'expired'] as const
const OUTCOMES = [
  'PENDING',
  'SUCCEEDED',
  'INSUFFICIENT_FUNDS',
  'WALLET_BLOCKED',
  'RETRYING',
  'EXPIRED',
] as const

export const perhaps = <Value>(value: Value): Value | undefined => (chance(0.5) ? value : undefined)

const randomSeeds = (): GatewayOptions['charges'] =>
  Array.from({ length: chance(0.5) ? 0 : below(6) }, (_, index) => ({
    id: perhaps(`ch_seed${index}`),
    confirmation_id: perhaps(`conf_seed${index}`),
    msisdn: pick(NUMBERS),
    amount: below(100),
    currency: 'BDT',
    redirect_uri: perhaps('https://shop.example/a'),
    status: perhaps(pick(STATUSES)),
    outcome: chance(0.3) ? pick(OUTCOMES) : undefined,
    created_at: perhaps(new Date(START + (below(60) - 50) * HOUR).toISOString()),
    mandate_id: chance(0.2) ? 'ch_seed0' : undefined,
  }))

export const randomOptions = (): GatewayOptions => {
  const given: Record<string, unknown> = {
    apiKeys: KEYS,
    defaultBehavior: perhaps(pick(behaviorNames)),
    testNumbers: chance(0.3)
      ? { '8801700000001': pick(behaviorNames), '+8801700000002': pick(behaviorNames) }
      : undefined,
    unlistedNumbers: perhaps(pick(['accept', 'refuse'])),
    retryDelay: perhaps(pick(DELAYS)),
    confirmationTtl: perhaps(pick(DELAYS)),
    redirectAllowlist: chance(0.3) ? ['https://shop.example/a', 'http://other.example/b/'] : undefined,
    keyReuse: perhaps(pick(['replay', 'reject'])),
    keyTtl: perhaps(pick(DELAYS)),
    renewalsAsMandates: perhaps(chance(0.5)),
    maxOtpAttempts: perhaps(pick([false, 1, 2, 3])),
    inputRules: perhaps(pick(['types', 'formats'])),
    returnParameter: perhaps(pick([false, 'charge_id'])),
    apiKeyScope: perhaps(pick(['all', 'own'])),
    unknownFields: perhaps(pick(['ignore', 'refuse'])),
    charges: randomSeeds(),
  }
  return readOptions(gatewayTable, pick(['spec', 'strict']), given, 'gateway')
}

export const randomFields = (): Record<string, unknown> => {
  const fields: Record<string, unknown> = {
    msisdn: pick(NUMBERS),
    amount: pick([100, 100, 100, 2500]),
    currency: 'BDT',
    redirect_uri: pick(['https://shop.example/a', 'https://shop.example/a', 'http://other.example/b/c?x=1']),
  }
  if (chance(0.15)) {
    const name = pick(['msisdn', 'amount', 'currency', 'redirect_uri', 'extra'])
    fields[name] = pick([
      undefined,
      null,
      '',
      0,
      -1,
      1.5,
      1e300,
      2 ** 53,
      '+0123',
      'XXQ',
      'no url',
      'https://shop.example/other',
      '12.5',
      {},
    ])
  }
  return fields
}
