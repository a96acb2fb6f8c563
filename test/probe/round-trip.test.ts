import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createMock, type Mock, type MockOptions } from '../../mocks/core.ts'
import { gatewayDefaults } from '../../mocks/gateway/options.ts'
import { toLine } from '../../mocks/probe/recording.ts'
import { reportOf } from '../../mocks/probe/report.ts'
import { subscriptionsDefaults } from '../../mocks/subscriptions/options.ts'
import { sized } from '../support/sizes.ts'
import { mockOptions, varied } from './options.ts'
import { openSandbox, SANDBOX, sandboxOptions } from './set-up.ts'
import { traffic } from './traffic.ts'

const { clientSecret, username, password } = SANDBOX.subscriptions.credentials
const { apiKey, otherApiKey, testNumbers } = SANDBOX.gateway
const SECRETS = [clientSecret, username, password, apiKey, otherApiKey, testNumbers[0].slice(1)]

const DEFAULTS = { subscriptions: subscriptionsDefaults, gateway: gatewayDefaults }
/** Random requests seldom depend on these options, so their values are compared as well. */
const EXACT = {
  subscriptions: ['lockout', 'cancelDelay', 'rateLimit', 'sendRetryAfter', 'duplicateRequest', 'maxEnd'],
  gateway: ['maxOtpAttempts', 'defaultBehavior', 'rateLimit', 'renewalsAsMandates'],
} as const

/** Fixed, so that every run of the same size asks the same servers. */
const SEED = 23

/** A window longer than a minute; a limit that holds back the calls that wait for a cancellation. */
const listed = { testNumbers: { [testNumbers[0]]: 'succeeds' as const } }
const EXAMPLES: [MockOptions, number][] = [
  [{ gateway: { ...listed, unlistedNumbers: 'refuse', rateLimit: { limit: 20, windowMs: 62_000 } } }, 0],
  [
    {
      gateway: listed,
      subscriptions: { cancelDelay: { seconds: 1 }, rateLimit: { limit: 21, windowMs: 1_000 } },
    },
    0,
  ],
]

type Table = Readonly<Record<string, unknown>>

/** What was found, and for the rest what the server has: a row that stayed unknown says nothing wrong. */
const completed = (server: MockOptions, found: Table): MockOptions => {
  const areaOf = (area: 'subscriptions' | 'gateway'): Table => {
    const truth: Table = { ...server[area] }
    const own: Table = Object(found[area])
    const lockout = truth.lockout !== undefined && own.lockout !== undefined
    return {
      ...truth,
      ...own,
      errorCodes: { ...Object(truth.errorCodes), ...Object(own.errorCodes) },
      // Only the number of attempts is asked.
      ...(lockout && { lockout: { ...Object(truth.lockout), attempts: Object(own.lockout).attempts } }),
    }
  }
  const { errorCodes: _none, ...gateway } = areaOf('gateway')
  return { subscriptions: areaOf('subscriptions'), gateway }
}

describe('the round trip', () => {
  const counts = new Map<string, { found: number; unknown: number }>()

  test('what probe finds makes a mock that answers as the server', { timeout: 1_800_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(mockOptions, fc.nat(), async (server, seed) => {
        const { run, mock, lines, redactor } = openSandbox(server)
        const issued: string[] = []
        const fetch: Mock['fetch'] = async (url, init) => {
          const response = await mock.fetch(url, init)
          const body = Object(await Promise.resolve(response.clone().json()).catch(() => undefined))
          const tokens = [body.access_token, body.refresh_token]
          issued.push(...tokens.filter((token) => typeof token === 'string'))
          return response
        }
        const result = await run({ fetch })
        const { stopped, options, asked } = result
        expect(stopped).toEqual({})
        const recordings = lines.flatMap((line) => ('recording' in line ? [toLine(line.recording)] : []))
        const written = [...recordings, reportOf(result, redactor)].join('')
        const secrets = [...issued, ...SECRETS]
        expect(secrets.filter((secret) => written.includes(secret))).toEqual([])
        for (const area of ['subscriptions', 'gateway'] as const) {
          for (const name of varied[area]) {
            const count = counts.get(`${area}.${name}`) ?? { found: 0, unknown: 0 }
            counts.set(`${area}.${name}`, count)
            count[name in Object(options[area]) ? 'found' : 'unknown'] += 1
          }
        }
        expect(asked.length).toBeGreaterThan(40)
        for (const area of ['subscriptions', 'gateway'] as const) {
          for (const name of EXACT[area]) {
            const found: unknown = Object(options[area])[name]
            const truth: unknown = Object(server[area])[name] ?? Object(DEFAULTS[area])[name]
            if (found === undefined) continue
            if (name === 'lockout') expect(found).toMatchObject({ attempts: Object(truth).attempts })
            else expect({ [name]: found }).toEqual({ [name]: truth })
          }
        }
        const otp = server.gateway?.otp ?? gatewayDefaults.otp
        const [wanted, given] = await Promise.all(
          [server, completed(server, options)].map((each) =>
            traffic(createMock(sandboxOptions(each)), otp, seed, 200),
          ),
        )
        expect(given).toEqual(wanted)
      }),
      { examples: EXAMPLES, numRuns: sized(300, 8), seed: SEED, endOnFailure: true },
    )
    for (const [name, { found, unknown }] of counts) {
      process.stdout.write(`${name}: found ${found}, unknown ${unknown}\n`)
    }
  })
})
