import type { EndpointDefinition } from '../../src/contract/endpoint.ts'
import { isObject, type Json, received } from '../../src/contract/fields.ts'
import type { Mock } from '../types.ts'
import { findOperation, type Recording } from './recording.ts'

export const FOREVER = 8_000_000_000_000_000

/** A recording with the values that `compare` reads from it. */
export interface Exchange extends Recording {
  /** The number of the recording, from 1, in the order of the file. */
  readonly number: number
  readonly time: number
  readonly definition?: EndpointDefinition
  /** The segments of the operation's path below the version prefix. */
  readonly segments: readonly string[]
  /** The first parameter of the path, such as the subscriptionId; empty if there is none. */
  readonly id: string
  /** The fields of the request: of JSON or of a form. */
  readonly fields: Json
  /** The fields of the response; empty if the body is not a JSON object. */
  readonly body: Json
  /** Whether the response is a success. Ignores errorCode, because a server's success code may differ from `00`. */
  readonly succeeded: boolean
  /** The token or API key. */
  readonly bearer: string
}

/** Returns whether a response with this status and body is the success of an operation. */
export const isSuccess = (
  definition: EndpointDefinition | undefined,
  status: number,
  body: Json,
): boolean => {
  if (status < 200 || status > 299) return false
  if (definition?.envelope === undefined) return true
  const needed = definition.successFields ?? definition.requiredFields ?? []
  return needed.some((name) => received(body, name) !== undefined)
}

const fieldsOf = ({ headers, body }: Recording['request']): Json => {
  if (isObject(body)) return body
  const isForm = typeof body === 'string' && headers['content-type']?.includes('form') === true
  return isForm ? Object.fromEntries(new URLSearchParams(body)) : {}
}

/** Reads the recordings, in the order in which the requests were sent. */
export const readExchanges = (recordings: readonly Recording[]): readonly Exchange[] =>
  recordings
    .map((recording, index): Exchange => {
      const { request, response, area, operation, at } = recording
      const found = operation && findOperation(request.path.split('?')[0] ?? '', area)
      const body = isObject(response?.body) ? response.body : {}
      const definition = found?.endpoint.definition
      return {
        ...recording,
        number: index + 1,
        time: Date.parse(at),
        ...(definition === undefined ? {} : { definition }),
        segments: found?.endpoint.segments ?? [],
        id: found?.parameters[0] ?? '',
        fields: fieldsOf(request),
        body,
        succeeded: isSuccess(definition, response?.status ?? 0, body),
        bearer: request.headers.authorization?.replace(/^bearer +/i, '') ?? '',
      }
    })
    .sort((one, other) => one.time - other.time)

/** Returns a field's text or number as text. Accepts `Id` and `ID` in the field's name. */
export const textOf = (body: Json, name: string): string => {
  const value = received(body, name)
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

/** Returns the records of a payment list, or the payment of `payment`. */
export const paymentsOf = ({ operation, body, succeeded }: Exchange): readonly Json[] => {
  if (!succeeded) return []
  if (operation === 'subscriptions.payment') return [body]
  const list = operation === 'subscriptions.payments' ? body.subscriptionPayments : []
  return Array.isArray(list) ? list.filter(isObject) : []
}

/** Something that a payer did between two exchanges. */
export interface Decision {
  /** The latest time at which the payer can have done this. */
  readonly time: number
  /** The index of the first exchange that shows it. */
  readonly before: number
  /** Does the same on the mock. `mapped` returns the mock's identifier for a recorded identifier. */
  act(mock: Mock, mapped: (id: string) => string): void
}
