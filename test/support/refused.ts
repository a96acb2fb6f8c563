import { inspect } from 'node:util'
import { expect } from 'vitest'
import { InvalidRequestError } from '../../src/index.ts'

/** A value that no error may show, for the places where a caller may put a secret by mistake. */
export const SECRET = 'sk-do-not-print'

/** A value as a caller without a type checker gives it. */
export const loosely = (value: unknown) => value as never

/** Everything that a person or a log could see of a value: the chain of causes of an error included. */
export const textOf = (value: unknown): string => {
  const texts = [
    inspect(value, { depth: 20, showHidden: true, getters: true }),
    JSON.stringify(value),
    String(value),
  ]
  for (let at = value; at instanceof Error; at = at.cause) texts.push(String(at.stack), at.message)
  return texts.join('\n')
}

/** The promises that work leaves rejected without a handler. */
export const unhandledDuring = async (work: () => unknown): Promise<unknown[]> => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', note)
  await work()
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  process.off('unhandledRejection', note)
  return unhandled
}

/** What work throws or rejects with: an InvalidRequestError that shows no secret. */
export const refusedBy = async (work: () => unknown): Promise<InvalidRequestError> => {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof InvalidRequestError)) throw error
    expect(error).toMatchObject({
      code: 'invalid_request',
      outcome: 'not-sent',
      attempts: 0,
      retryable: false,
    })
    expect(textOf(error)).not.toContain(SECRET)
    return error
  }
  throw new Error('Nothing was refused.')
}

/** The fields that an InvalidRequestError names, sorted. */
export const refusedFields = async (work: () => unknown): Promise<readonly string[]> =>
  (await refusedBy(work)).issues.map(({ field }) => field).toSorted()
