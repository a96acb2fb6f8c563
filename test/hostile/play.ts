import { getEventListeners } from 'node:events'
import { isMandateKitError, type MandateKitError, nextStep } from '../../src/index.ts'
import { API_KEY, CREDENTIALS, gatewayClient, subscriptionsClient, TOKEN } from '../support/clients.ts'
import { recording } from '../support/open-clients.ts'
import { textOf } from '../support/refused.ts'
import { skippingClock } from '../support/skipping-clock.ts'
import { caseOf } from './cases.ts'
import { REFRESH_TOKEN } from './operations.ts'

type Conduct = ReturnType<typeof caseOf>['conduct']

/** How the call of a case ended. `code` is absent after a success, and `none` for an error that is not the client's. */
export interface Ending {
  readonly number: number
  readonly code?: string
  readonly outcome?: string
  readonly retryable?: boolean
  readonly idempotencyKey?: string | undefined
  /** The promises that the call broke by itself, whatever the server did. */
  readonly broken: readonly string[]
}

interface Oracle {
  readonly url: string
  readonly elsewherePort: number
}

const PARALLEL = 24

/** How late a call may end on a busy machine, in milliseconds. */
const SLACK = 20_000
const SECRETS = [TOKEN, REFRESH_TOKEN, API_KEY, CREDENTIALS.clientSecret, CREDENTIALS.password]

/** Where `nextStep` contradicts `retryable`, or would send again without its key what may have acted. */
const contradictionsOf = (error: MandateKitError): string[] => {
  const next = nextStep(error)
  const { retryable, outcome, idempotencyKey, acts } = error
  const isLost = outcome === 'unknown'
  const rules = {
    'a retryable error is not run again': retryable && !['retry', 'pause-queue'].includes(next.step),
    'an error is retried that is not retryable':
      next.step === 'retry' && !retryable && !(isLost && idempotencyKey !== undefined),
    'what may have acted is not looked for':
      acts && isLost && idempotencyKey === undefined && next.step !== 'find-out',
    'a wait is out of bounds': 'afterMs' in next && !(next.afterMs >= 1_000 && next.afterMs <= 3_600_000),
    'a pause loses the key': 'afterMs' in next && next.idempotencyKey !== idempotencyKey,
    'JSON says something else':
      JSON.stringify(nextStep(JSON.parse(JSON.stringify(error)))) !== JSON.stringify(next),
    'a cause says something else': nextStep(new Error('x', { cause: error })).step !== next.step,
    'its own error is unknown': next.step === 'unknown-error',
  }
  return Object.entries(rules).flatMap(([rule, isBroken]) => (isBroken ? `nextStep: ${rule}` : []))
}

const ended = async (number: number, call: () => Promise<unknown>): Promise<Ending> => {
  try {
    await call()
    return { number, broken: [] }
  } catch (error) {
    if (!isMandateKitError(error)) return { number, code: 'none', outcome: String(error), broken: [] }
    const { code, outcome, retryable, idempotencyKey } = error
    const shown = textOf(error)
    const secrets = SECRETS.some((secret) => shown.includes(secret)) ? ['a secret is in the error'] : []
    return {
      number,
      code,
      outcome,
      retryable,
      idempotencyKey,
      broken: [...contradictionsOf(error), ...secrets],
    }
  }
}

const aborting = async (controller: AbortController, { abort, count }: Conduct): Promise<void> => {
  if (abort === 'milliseconds') setTimeout(() => controller.abort(), count / 5)
  if (abort === 'turns') for (let turn = 0; turn < count; turn += 1) await Promise.resolve()
  if (abort === 'turns' || abort === 'before') controller.abort()
}

/** Makes the call of a case, and again if its error says that this is safe. */
const play = async (number: number, { url, elsewherePort }: Oracle): Promise<Ending> => {
  const { name, operation, key, conduct } = caseOf(number, elsewherePort)
  const clock = skippingClock()
  const { hooks, seen } = recording()
  const note = (line: string) => seen.push([line, {}])
  const logger = { debug: note, info: note, warn: note, error: note }
  const noted = { hooks, logger, logLevel: 'debug' } as const
  const options = { ...conduct.options, ...noted, clock, headers: { 'x-case': String(number) } }
  const clients = {
    gateway: gatewayClient(url, options),
    subscriptions: subscriptionsClient(url, { ...options, refresh: conduct.refresh }),
  }
  if (conduct.token !== 'none') await clients.subscriptions.login().catch(() => undefined)
  if (conduct.token === 'expired') await clock.sleep(4_000_000)
  const controller = new AbortController()
  const { signal } = controller
  if (conduct.abort === 'before') controller.abort()
  const startedAt = performance.now()
  const call = ended(number, () => operation.call(clients, { signal }, key))
  await aborting(controller, conduct)
  const ending = await call
  const { timeout, totalTimeout } = conduct.options
  const broken = {
    'it ended late': performance.now() - startedAt > Math.min(totalTimeout, 30 * timeout) + SLACK,
    'a listener stays on the signal': getEventListeners(signal, 'abort').length > 0,
    'a secret is in a hook or a log': SECRETS.some((secret) => JSON.stringify(seen).includes(secret)),
  }
  // A second `login()` is a second login, so only the other operations are called again.
  const again = { headers: { 'x-again': '1' } }
  if (ending.retryable && name !== 'login') await ended(number, () => operation.call(clients, again, key))
  return {
    ...ending,
    broken: [...ending.broken, ...Object.entries(broken).flatMap(([what, is]) => (is ? what : []))],
  }
}

/** Plays cases against the oracle, some at a time, and starts none after `limit` ms. */
export const playAll = async (
  numbers: readonly number[],
  oracle: Oracle,
  limit = Infinity,
): Promise<readonly Ending[]> => {
  const waiting = numbers.values()
  const endings: Ending[] = []
  const startedAt = performance.now()
  const work = async () => {
    for (const number of waiting) {
      if (performance.now() - startedAt > limit) return
      endings.push(await play(number, oracle))
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, work))
  return endings
}
