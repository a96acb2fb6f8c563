import type { Area } from '../../src/contract/endpoint.ts'
import { gatewayContract } from '../../src/contract/gateway.ts'
import { subscriptionsContract } from '../../src/contract/subscriptions.ts'
import type { Operation } from '../http/area.ts'
import { decoded } from '../http/routes.ts'

/** One request and its response, without secrets and payers' numbers. A file has one recording per line. */
export interface Recording {
  /** The API to which the request was sent: `subscriptions` (area S) or `gateway` (area G). */
  readonly area: Area
  /** The requested operation; absent if no operation has this path. */
  readonly operation?: Operation
  /** The request, without secrets and payers' numbers. */
  readonly request: {
    /** HTTP method, such as `POST`. */
    readonly method: string
    /** The path below the base URL, with the query. */
    readonly path: string
    /** The headers that a recording keeps, such as `content-type`, with names in lower case. */
    readonly headers: Readonly<Record<string, string>>
    /** The JSON of the body, or its text if it is not JSON; absent if there was no body. */
    readonly body?: unknown
  }
  /** Absent if the request got no response. */
  readonly response?: {
    /** HTTP status. */
    readonly status: number
    /** The headers that a recording keeps, such as `retry-after`, with names in lower case. */
    readonly headers: Readonly<Record<string, string>>
    /** The JSON of the body, or its text if it is not JSON; absent if the body was empty. */
    readonly body?: unknown
  }
  /** Time at which the request was sent, ISO 8601 in UTC. */
  readonly at: string
}

/** The headers of requests and responses that a recording keeps, and the usual names of a request id (row 49). */
const KEPT =
  /^(?:authorization|content-type|idempotency-key|allow|date|retry-after|x-ratelimit-\w+)$|(?:request|correlation|trace)-?id$/

/** Returns the JSON of a body, its text if it is not JSON, or `undefined` if it is empty. */
export const bodyOf = (text: string): unknown => {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

interface Message {
  readonly headers: Headers
  readonly text: string
}

const partOf = ({ headers, text }: Message) => {
  const body = bodyOf(text)
  return {
    headers: Object.fromEntries([...headers].filter(([name]) => KEPT.test(name))),
    ...(body === undefined ? {} : { body }),
  }
}

/** Returns the recording of an exchange, with its secrets. */
export const recordingOf = (
  { area, operation }: { readonly area: Area; readonly operation: Operation },
  request: Message & { readonly method: string; readonly path: string },
  response: (Message & { readonly status: number }) | undefined,
  at: number,
): Recording => ({
  area,
  operation,
  request: { method: request.method, path: request.path, ...partOf(request) },
  ...(response && { response: { status: response.status, ...partOf(response) } }),
  at: new Date(at).toISOString(),
})

/** Every operation of both APIs, with the segments of its path below the version prefix. */
export const endpoints = [...Object.values(subscriptionsContract), ...Object.values(gatewayContract)].map(
  (definition): { area: Area; definition: typeof definition; segments: readonly string[] } => {
    const area: Area = definition.operation.startsWith('gateway') ? 'gateway' : 'subscriptions'
    return {
      area,
      definition,
      segments: definition.path
        .replace(/^\/api\/v[\d.]+/, '')
        .split('/')
        .slice(1),
    }
  },
)

/** The operation of a path. */
export interface Found {
  readonly endpoint: (typeof endpoints)[number]
  /** The values of the path's parameters, in order. */
  readonly parameters: readonly string[]
  /** The path, beginning with the standard version prefix. A path with another prefix begins after this prefix. */
  readonly path: string
}

/**
 * Finds the operation whose path is the end of a URL's path, after any base path and version prefix. If several match,
 * the path with the most literal segments wins: `/subscription/cancel/1` is not the subscription `1` of `cancel`.
 */
export const findOperation = (pathname: string, area?: Area): Found | undefined => {
  const given = pathname.split('/').slice(1)
  const literals = ({ segments }: (typeof endpoints)[number]): number =>
    segments.filter((segment) => !segment.startsWith(':')).length
  const [endpoint] = endpoints
    .filter((each) => {
      const tail = given.slice(-each.segments.length)
      const isLongEnough = tail.length === each.segments.length
      const isSame = each.segments.every(
        (segment, index) => segment.startsWith(':') || segment === tail[index],
      )
      return isLongEnough && isSame && (area === undefined || each.area === area)
    })
    .sort((one, other) => literals(other) - literals(one) || other.segments.length - one.segments.length)
  if (endpoint === undefined) return undefined
  const { segments, definition } = endpoint
  const tail = given.slice(-segments.length)
  const prefix = definition.path.split('/').slice(1, -segments.length)
  const hasPrefix = given.slice(0, -segments.length).join('/').endsWith(prefix.join('/'))
  return {
    endpoint,
    parameters: tail.filter((_, index) => segments[index]?.startsWith(':')).map(decoded),
    path: `/${[...(hasPrefix ? prefix : []), ...tail].join('/')}`,
  }
}

/** Returns a recording as one line of a file. */
export const toLine = (recording: Recording): string => `${JSON.stringify(recording)}\n`

const isRecording = (value: unknown): value is Recording => {
  const { area, request, response, at } = Object(value)
  return (
    (area === 'subscriptions' || area === 'gateway') &&
    typeof request?.method === 'string' &&
    typeof request.path === 'string' &&
    typeof Object(request.headers) === 'object' &&
    (response === undefined || Number.isInteger(response?.status)) &&
    !Number.isNaN(Date.parse(at))
  )
}

/**
 * Reads the lines of a recorded file. Empty lines are skipped.
 *
 * @throws TypeError that names the first line which is not a recording
 */
export const readRecordings = (text: string): readonly Recording[] =>
  text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return []
    const value = bodyOf(line)
    if (!isRecording(value)) throw new TypeError(`Line ${index + 1} is not a recording.`)
    return [value]
  })
