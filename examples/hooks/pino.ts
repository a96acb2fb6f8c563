import type { CallFacts, Hooks } from 'mandatekit'
import type { Logger } from 'pino'
import { pino } from 'pino'
import { isProgram } from '../frameworks/run.ts'
import { makeCalls } from './calls.ts'

// Run it: node examples/hooks/pino.ts

/** The facts as fields of a log line. `call` is only a key for maps; everything else is free of secrets. */
const fieldsOf = <Facts extends CallFacts>({ call: _call, ...fields }: Facts): Omit<Facts, 'call'> => fields

/** Logs calls: attempts at `debug`, answers at `info`, repeats at `warn`, failures at `error`. */
export const pinoHooks = (logger: Logger): Hooks => ({
  onRequest: (facts) => logger.debug(fieldsOf(facts), 'request'),
  onResponse: (facts) => logger.info(fieldsOf(facts), 'response'),
  onRetry: (facts) => logger.warn(fieldsOf(facts), 'repeated'),
  onError: (facts) => logger.error(fieldsOf(facts), 'failed'),
  onTokenRenewed: (facts) => logger.info(facts, 'token renewed'),
})

if (isProgram(import.meta.url)) await makeCalls(pinoHooks(pino({ level: 'debug' })))
