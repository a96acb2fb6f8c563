import { check, inputIssue } from '../check.ts'
import type { EndpointDefinition } from '../contract/endpoint.ts'
import { anyJson, field, type Input, input, isObject, oneOf, optional, strict } from '../contract/fields.ts'
import { InvalidRequestError } from '../errors.ts'
import type { CallOptions } from './options.ts'
import { type CallInput, DOT_SEGMENT, idempotencyKey, type Query } from './prepare.ts'

const query = field<Query>('an object of names and values, or URLSearchParams', (value) =>
  isObject(value) ? (value as Query) : undefined,
)

const rawRequest = {
  /** HTTP method, such as `POST`. */
  method: oneOf(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  /**
   * Path below the base URL, with the version prefix, such as `/api/v1/mfs/refunds`. Encode identifiers in the path
   * with `encodeURIComponent`. Segments `.` and `..` are refused, also in encoded form. Logs, events and errors contain
   * the path, so it must not contain a secret.
   */
  path: input(
    'a path such as /api/v2/plans, without segments `.` and `..`',
    (value) => /^\/[^\s?#\\]*$/.test(value) && !DOT_SEGMENT.test(value),
  ),
  /** Query parameters: an object, or `URLSearchParams`. */
  query: optional(query),
  /** Body, which is sent as JSON. */
  body: optional(anyJson),
  /** Idempotency key. With `retry: 'always'`, every retry sends the same key. Default: none. */
  idempotencyKey: optional(idempotencyKey),
  /**
   * Set `always` only if the server may safely execute the request twice: for a read, or with an idempotency key.
   * Default: `never`. Even then, after a 401 in area S, the client renews the token and sends the request once more:
   * a server that rejects the token does not execute the request.
   */
  retry: optional(oneOf(['always', 'never'])),
}
/** A request to an operation that this version of the package does not know. */
export interface RawRequest extends Input<typeof rawRequest> {}
const rawRequestSchema = strict(rawRequest)

type RawDefinition = Pick<EndpointDefinition, 'operation' | 'auth' | 'envelope'>

/** Checks a raw request. Returns an endpoint definition, and the input of the call. */
export const rawCall = (
  definition: RawDefinition,
  request: RawRequest,
  options: CallOptions | undefined,
): [EndpointDefinition, CallInput] => {
  const given = check(definition.operation, rawRequestSchema, request, 'request')
  const { method, path, query, body, idempotencyKey, retry = 'never' } = given
  if (method === 'GET' && body !== undefined)
    throw new InvalidRequestError(definition.operation, [inputIssue('body', 'omitted for GET', body)])
  const isRetried = retry === 'always'
  const hasKey = idempotencyKey !== undefined
  const endpoint: EndpointDefinition = {
    ...definition,
    method: 'POST',
    path: path as `/${string}`,
    spec: '',
    retry: isRetried || hasKey ? 'always' : 'when-not-executed',
    idempotencyKey: hasKey,
    request: anyJson,
    response: anyJson,
    status: 200,
    acts: hasKey || !(isRetried || method === 'GET'),
    afterUnknown: {
      how: 'read-state',
      advice: hasKey ? 'it acts once while the key is kept.' : 'Find out whether it did.',
    },
  }
  return [endpoint, { method, query, body, idempotencyKey, once: !isRetried, options }]
}
