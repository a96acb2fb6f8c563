import type { CallEvent, Hooks } from 'mandatekit'
import { type Logger, pino } from 'pino'
import { isProgram } from '../frameworks/run.ts'
import { makeCalls } from './calls.ts'

// To run this example: node examples/hooks/pino.ts

/** Returns an event's fields for a log line, without the field `call`, which only identifies the call. */
const fieldsOf = <Event extends CallEvent>({ call: _call, ...fields }: Event): Omit<Event, 'call'> => fields

/** Logs calls: attempts at `debug`, responses at `info`, retries at `warn`, failures at `error`. */
export const pinoHooks = (logger: Logger): Hooks => ({
  onRequest: (event) => logger.debug(fieldsOf(event), 'request'),
  onResponse: (event) => logger.info(fieldsOf(event), 'response'),
  onRetry: (event) => logger.warn(fieldsOf(event), 'retry'),
  onError: (event) => logger.error(fieldsOf(event), 'failed'),
  onTokenRenewed: (event) => logger.info(event, 'token renewed'),
})

if (isProgram(import.meta.url)) await makeCalls(pinoHooks(pino({ level: 'debug' })))
