import type { IncomingRequest } from './answer.ts'
import type { AreaRuntime, OperationTarget } from './area.ts'
import type { ReadBody } from './request-body.ts'
import { NOT_UTF8, readBody } from './request-body.ts'

/** One request on its way through an area. */
export interface Exchange {
  readonly request: IncomingRequest
  readonly area: AreaRuntime
  /** Below the base URL, without its query. */
  readonly path: string
  readonly query: string
  readonly bearer: string | undefined
}

/** An exchange whose operation is known and whose body has come. */
export interface OperationExchange extends Exchange {
  readonly target: OperationTarget
  readonly parameters: Readonly<Record<string, string>>
  readonly idempotencyKey: string | undefined
  readonly contentType: string | null
  readonly body: ReadBody
}

/** The token of `Authorization: Bearer …`. */
export const bearerOf = (request: IncomingRequest): string | undefined => {
  const header = request.headers.get('authorization')
  if (header === null || header.slice(0, 7).toLowerCase() !== 'bearer ') return undefined
  const token = header.slice(7).trim()
  return token === '' ? undefined : token
}

/** The fields of a body, none when it could not be read. */
export const fieldsOf = (body: ReadBody): Readonly<Record<string, unknown>> => (body.ok ? body.fields : {})

/** Whether an operation reads form fields as well: the token path (row 32). */
export const readsForm = (target: OperationTarget): boolean => target.definition.auth === 'credentials'

/** Reads the headers and the body of a request whose operation is known. */
export const receive = async (
  exchange: Exchange,
  target: OperationTarget,
  parameters: Readonly<Record<string, string>>,
): Promise<OperationExchange> => {
  const { request } = exchange
  const contentType = request.headers.get('content-type')
  const text = target.definition.method === 'GET' ? '' : await request.text()
  return {
    ...exchange,
    target,
    parameters,
    idempotencyKey: request.headers.get('idempotency-key') ?? undefined,
    contentType,
    body: request.isUtf8?.() === false ? NOT_UTF8 : readBody(text, contentType, readsForm(target)),
  }
}
