import { isMandateKitError, type MandateKitError, nextStep } from '../../src/index.ts'
import { gatewayClient, subscriptionsClient } from '../support/clients.ts'
import { skippingClock } from '../support/skipping-clock.ts'
import { caseOf } from './cases.ts'

/** How the call of a case ended. `code` is absent after a success, and `none` for an error that is not the client's. */
export interface Ending {
  readonly number: number
  readonly code?: string
  readonly outcome?: string
  readonly retryable?: boolean
  /** What `nextStep` says of the error that contradicts the error itself. */
  readonly contradiction?: string
}

interface Oracle {
  readonly url: string
  readonly elsewherePort: number
}

const PARALLEL = 24

/** `nextStep` agrees with `retryable`, and never sends again without its key what may have acted. */
const contradictionOf = (error: MandateKitError): string | undefined => {
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
  return Object.entries(rules).find(([, isBroken]) => isBroken)?.[0]
}

const ended = async (number: number, call: () => Promise<unknown>): Promise<Ending> => {
  try {
    await call()
    return { number }
  } catch (error) {
    if (!isMandateKitError(error)) return { number, code: 'none', outcome: String(error) }
    const { code, outcome, retryable } = error
    const contradiction = contradictionOf(error)
    return { number, code, outcome, retryable, ...(contradiction !== undefined && { contradiction }) }
  }
}

/** Makes the call of a case, and again if its error says that this is safe. */
const play = async (number: number, { url, elsewherePort }: Oracle): Promise<Ending> => {
  const { name, operation, key, end } = caseOf(number, elsewherePort)
  const headers = { 'x-case': String(number) }
  const options = { clock: skippingClock(), timeout: end === 'hang' ? 60 : 30_000, headers }
  const clients = { gateway: gatewayClient(url, options), subscriptions: subscriptionsClient(url, options) }
  const ending = await ended(number, () => operation.call(clients, {}, key))
  // A second `login()` is a second login, so only the other operations are called again.
  const again = { headers: { 'x-again': '1' } }
  if (ending.retryable && name !== 'login') await ended(number, () => operation.call(clients, again, key))
  return ending
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
