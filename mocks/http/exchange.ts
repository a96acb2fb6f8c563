import { machineNow } from '../time/machine.ts'
import type { AreaRuntime, Operation } from './area.ts'
import { type ReadBody, readBody } from './body.ts'
import type { FaultRequest } from './fault-schema.ts'
import type { IncomingRequest, ResponseData } from './response.ts'
import type { Located, OperationTarget } from './routes.ts'

/** A request and the area that receives it. */
export interface Exchange {
  readonly request: IncomingRequest
  readonly area: AreaRuntime
  /** When the request arrived, in the machine's time. */
  readonly receivedAt: number
  /** The path below the base URL, without the query. */
  readonly path: string
  readonly query: string
  readonly bearer: string | undefined
  /** The requested operation; absent if no operation has this path and method. */
  readonly target?: OperationTarget
  /** The body; absent until it is read, and for a request without an operation. */
  readonly body?: ReadBody
  readonly idempotencyKey?: string | undefined
}

/** A request to an operation, with its body. */
export interface OperationExchange extends Exchange {
  readonly target: OperationTarget
  readonly parameters: Readonly<Record<string, string>>
  readonly contentType: string | null
  readonly body: ReadBody
}

/** The response to a request, and the rule that caused the response. */
export interface Decision {
  readonly response: ResponseData
  /** Whether the mock executed the operation. */
  readonly executed: boolean
  /** The name of the rule. */
  readonly rule: string
  /** The reason for the decision, in sentences. */
  readonly explanation: string
}

/** Returns the fields of a body, or an empty object if the body was not read or is not valid. */
export const fieldsOf = ({ body }: Exchange): Readonly<Record<string, unknown>> =>
  body?.ok === true ? body.fields : {}

/** Returns whether the sender of a request has disconnected. */
export const hasLeft = (request: IncomingRequest): boolean =>
  request.hasLeft === undefined ? request.signal?.aborted === true : request.hasLeft()

/** Returns the token of `Authorization: Bearer …`. */
const bearerOf = ({ headers }: IncomingRequest): string | undefined => {
  const header = headers.get('authorization')
  if (header === null || header.slice(0, 7).toLowerCase() !== 'bearer ') return undefined
  return header.slice(7).trim() || undefined
}

/** Returns a request with the area that `locate` found for it. */
export const exchangeOf = (
  request: IncomingRequest,
  { area, path, query }: Located<AreaRuntime>,
): Exchange => ({
  request,
  area,
  receivedAt: machineNow(),
  path,
  query,
  bearer: bearerOf(request),
})

/** Returns whether an operation also accepts form fields. Only the login accepts form fields (row 32). */
export const readsForm = ({ definition }: OperationTarget): boolean => definition.auth === 'credentials'

/** Reads the headers and the body of a request to an operation. The promise rejects if reading the body fails. */
export const read = async (
  exchange: Exchange,
  { target, parameters }: Pick<OperationExchange, 'target' | 'parameters'>,
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
    // Checks the encoding, because `text()` replaces invalid bytes and so could turn an invalid body into valid JSON.
    body:
      request.isUtf8?.() === false
        ? { ok: false, problem: 'The body is not UTF-8.' }
        : readBody(text, contentType, readsForm(target)),
  }
}

/** Returns the request in the form that the `when` of a fault receives. */
export const faultRequestOf = (exchange: OperationExchange): FaultRequest => {
  const { area, target, parameters, query, idempotencyKey } = exchange
  return {
    operation: target.definition.operation as Operation,
    fields: {
      ...area.correlationFields(parameters),
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      ...Object.fromEntries(new URLSearchParams(query)),
      ...fieldsOf(exchange),
      ...parameters,
    },
  }
}

/** Returns operation, path, caller and idempotency key as one text; `undefined` if the request uses no key. */
export const keyScope = ({
  target,
  path,
  bearer,
  idempotencyKey = '',
}: OperationExchange): string | undefined =>
  target.definition.idempotencyKey && idempotencyKey.trim() !== ''
    ? [target.definition.operation, path, bearer, idempotencyKey].join('\n')
    : undefined
