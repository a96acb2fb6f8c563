import type { EndpointDefinition } from '../contract/endpoint.ts'
import { interruptionError } from './call-errors.ts'
import type { CallOptions } from './call-options.ts'
import { callLimits, callOptionIssues } from './call-options.ts'
import { CallRecord } from './call-record.ts'
import { CallTimeout } from './call-timeout.ts'
import type { ClientSettings } from './client-options.ts'
import { refuse, whileReading } from './input-issues.ts'
import { reportFailure } from './report-failure.ts'

/**
 * Runs work of a call that is no attempt of it, such as a login or asking for credentials: within the call's total
 * time and the caller's signal. `mayExecute`: the work may act at the server.
 */
export const boundedWork = async <Value>(
  endpoint: EndpointDefinition,
  settings: ClientSettings,
  options: CallOptions | undefined,
  work: (signal: AbortSignal) => Promise<Value>,
  mayExecute: boolean,
): Promise<Value> => {
  const { operation } = endpoint
  const { totalTimeout, signal } = whileReading(operation, 'options', () => {
    refuse(operation, callOptionIssues(options))
    return callLimits(settings, options)
  })
  const startedAt = settings.clock.now()
  const record = new CallRecord({
    endpoint,
    method: endpoint.method,
    url: `${settings.baseUrl}${endpoint.path}`,
    fields: undefined,
    idempotencyKey: undefined,
    ownKey: false,
  })
  record.phase = 'login'
  const time = new CallTimeout(totalTimeout, signal)
  try {
    let { interruption } = time
    if (interruption === undefined) {
      const value = await time.race(work(time.signal))
      interruption = time.interruption
      // What came is given, also when the machine slept meanwhile: a token that is there is no failed login.
      if (value !== undefined || interruption === undefined) return value as Value
      if (mayExecute) record.failed('unknown')
    }
    throw interruptionError(record, interruption)
  } catch (error) {
    reportFailure(settings, record, error, startedAt)
    throw error
  } finally {
    time.end()
  }
}
