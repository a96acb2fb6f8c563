import type { Area } from '../../src/contract/endpoint.ts'
import { isObject } from '../../src/contract/fields.ts'
import { MockRefusedError } from '../base/result.ts'
import type { MockOptions, ReadOptions } from '../options.ts'
import type { Mock } from '../types.ts'
import { acceptedCodes, decisionsOf, replayOptions } from './decisions.ts'
import { checkBody, createBodyComparison, type Finding } from './differences.ts'
import { type Exchange, isSuccess, readExchanges } from './exchanges.ts'
import { bodyOf, type Recording } from './recording.ts'
import { type Replayed, rowOf } from './rows.ts'

/** A difference between the recorded server and the mock. */
export interface Difference extends Finding {
  /** The row of docs/unknowns.md, such as `41` or `73a`, or the mark of the specification, such as `S4`. */
  readonly row: string
  /** The operation, or method and path if no operation has this path. */
  readonly operation: string
  /** The numbers of the recordings that show the difference. The first recording has number 1. */
  readonly recordings: readonly number[]
}

/** A recording that could not be compared. */
export interface Skipped {
  /** The number of the recording. */
  readonly recording: number
  /** Why the recording could not be compared. */
  readonly reason: string
}

/** The result of `compareWithMock`. */
export interface Comparison {
  /** The differences, each once for all recordings that show it. */
  readonly differences: readonly Difference[]
  /** The recordings that could not be compared, with the reason. */
  readonly skipped: readonly Skipped[]
  /** The number of recordings that were compared. */
  readonly compared: number
}

const LIMIT_HEADERS = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']

/** Sends the request of an exchange to the mock, with the mock's identifiers. */
const send = async (
  mock: Mock,
  exchange: Exchange,
  options: ReadOptions,
  ids: ReadonlyMap<string, string>,
) => {
  const { area, definition, request, segments, id } = exchange
  const mapped = (text: string): string => ids.get(text) ?? text
  const [path = '', query] = request.path.split('?')
  const prefix = definition?.path.startsWith('/api/') === true ? options[area].apiPrefix : ''
  const own = segments.map((segment) => (segment.startsWith(':') ? encodeURIComponent(mapped(id)) : segment))
  const target = definition === undefined ? path : `${prefix}/${own.join('/')}`
  const { authorization, ...headers } = request.headers
  const body = isObject(request.body)
    ? JSON.stringify(request.body, (_name, value) => (typeof value === 'string' ? mapped(value) : value))
    : formOf(exchange, mapped)
  mock.requests.clear()
  const response = await mock.fetch(
    `${mock.clientOptions[area].baseUrl}${target}${query === undefined ? '' : `?${query}`}`,
    {
      method: request.method,
      headers: {
        ...headers,
        ...(authorization !== undefined && { authorization: authorization.replace(/\S+$/, mapped) }),
      },
      ...(body !== undefined && { body }),
    },
  )
  const received = bodyOf(await response.text())
  const succeeded = isSuccess(definition, response.status, isObject(received) ? received : {})
  return {
    status: response.status,
    headers: response.headers,
    body: received,
    succeeded,
    logged: mock.requests.all()[0],
  }
}

const formOf = (
  { request: { body, headers } }: Exchange,
  mapped: (text: string) => string,
): string | undefined => {
  if (body === undefined || headers['content-type']?.includes('form') !== true)
    return body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
  return String(
    new URLSearchParams([...new URLSearchParams(String(body))].map(([name, value]) => [name, mapped(value)])),
  )
}

const headerFindings = ({ response, area }: Exchange, sent: Awaited<ReturnType<typeof send>>): Finding[] => {
  const names = [
    ...(area === 'subscriptions' ? LIMIT_HEADERS : []),
    ...(response?.status === 429 ? ['retry-after'] : []),
    'content-type',
  ]
  return names.flatMap((name): Finding[] => {
    const [recorded, mock] = [response?.headers[name], sent.headers.get(name) ?? undefined]
    // Other calls may have used a part of the limit, so only the limit itself must be equal.
    const isExact = name === 'x-ratelimit-limit'
    const shown = (value: string | undefined) =>
      isExact || value === undefined ? value : value.replace(/;.*/, '').replace(/\d+/, '0')
    return shown(recorded) === shown(mock)
      ? []
      : [{ place: `header ${name}`, kind: 'header', recorded, mock }]
  })
}

/** Compares one response with the mock's. */
const compareResponses = (
  exchange: Exchange,
  sent: Awaited<ReturnType<typeof send>>,
  ids: Map<string, string>,
): readonly Finding[] => {
  const { response, definition, succeeded, operation = '' } = exchange
  if (response === undefined) return []
  const status: Finding[] =
    response.status === sent.status
      ? []
      : [{ place: 'status', kind: 'status', recorded: response.status, mock: sent.status }]
  const headers = response.status === sent.status ? headerFindings(exchange, sent) : []
  const isAnyBody =
    definition !== undefined &&
    definition.requiredFields === undefined &&
    definition.createdFields === undefined &&
    definition.successFields === undefined
  const isComparable = succeeded === sent.succeeded && !(succeeded && (isAnyBody || status.length > 0))
  const bodies = isComparable ? createBodyComparison(operation, ids)(response.body, sent.body) : []
  if (definition === undefined || !isComparable) return [...status, ...headers, ...bodies]
  const own = new Set(checkBody(definition, sent.succeeded, sent.body).map(({ place }) => place))
  const known = new Set(bodies.map(({ place }) => place))
  const wrong = checkBody(definition, succeeded, response.body).filter(
    ({ place }) => !known.has(place) && !own.has(place),
  )
  return [...status, ...headers, ...bodies, ...wrong]
}

/** The differences so far, and the area whose rate limit refused a call that the server accepted. */
interface Replay extends Comparison {
  readonly limited?: Area
}

const replay = async (
  exchanges: readonly Exchange[],
  options: ReadOptions,
  create: (options: MockOptions) => Mock,
): Promise<Replay> => {
  const mock = create(replayOptions(exchanges, options))
  const ids = new Map(acceptedCodes(exchanges).map((code) => [code, options.gateway.otp]))
  const found = new Map<string, Difference>()
  const skipped: Skipped[] = []
  const decisions = [...decisionsOf(exchanges, options)]

  const add = (finding: Finding, index: number, exchange: Exchange, sent: Replayed): void => {
    const operation = exchange.operation ?? `${exchange.request.method} ${exchange.request.path}`
    const row = rowOf(finding, exchange, sent, exchanges.slice(0, index))
    const key = [operation, finding.place, finding.kind, row].join(' ')
    const known = found.get(key)?.recordings ?? []
    found.set(key, {
      ...(found.get(key) ?? { ...finding, row, operation }),
      recordings: [...known, exchange.number],
    })
  }

  const decide = async (index: number, time: number): Promise<void> => {
    for (
      let next = decisions[0];
      next !== undefined && (next.time < time || (next.time === time && next.before <= index));
      next = decisions[0]
    ) {
      decisions.shift()
      if (next.time > mock.clock.now()) await mock.clock.set(next.time)
      try {
        next.act(mock, (id) => ids.get(id) ?? id)
      } catch (error) {
        // The mock's state differs from the server's. The next responses show the difference.
        if (!(error instanceof MockRefusedError)) throw error
      }
    }
  }

  const result = (): Comparison => ({
    differences: [...found.values()],
    skipped,
    compared: exchanges.length - skipped.length,
  })

  for (const [index, exchange] of exchanges.entries()) {
    const { time, response, id, succeeded, area, number } = exchange
    await decide(index, time)
    if (time > mock.clock.now()) await mock.clock.set(time)
    const skip = (reason: string): void => void skipped.push({ recording: number, reason })
    if ((response?.status ?? 0) >= 500) {
      skip(`the server failed with status ${response?.status}`)
    } else {
      const before = succeeded ? undefined : mock.snapshot()
      const sent = await send(mock, exchange, options, ids)
      if (sent.status === 429 && response?.status !== 429) {
        const finding = { place: 'status', kind: 'status', recorded: response?.status, mock: 429 } as const
        add(finding, index, exchange, sent)
        return { ...result(), limited: area }
      }
      if (response === undefined) skip('the request got no response')
      else if (id !== '' && !ids.has(id) && succeeded)
        skip('the mock has no object with the identifier in the path')
      else for (const finding of compareResponses(exchange, sent, ids)) add(finding, index, exchange, sent)
      // The server did not act, so the mock must not either.
      if (before !== undefined && response !== undefined && sent.succeeded) mock.restore(before)
    }
  }
  return result()
}

/** Replays recordings on a new mock and lists how their responses differ from those of the mock. */
export const compareRecordings = async (
  recordings: readonly Recording[],
  options: ReadOptions,
  create: (options: MockOptions) => Mock,
): Promise<Comparison> => {
  const exchanges = readExchanges(recordings)
  const { limited, ...first } = await replay(exchanges, options, create)
  if (limited === undefined) return first
  // After a refusal that the server did not make, all later responses would differ. So this limit is left out.
  const rest = await compareRecordings(
    recordings,
    { ...options, [limited]: { ...options[limited], rateLimit: false } },
    create,
  )
  const limits = first.differences.filter(({ row }) => row === '42' || row === '78')
  const isLimitHeader = ({ place }: Difference): boolean => place === 'header x-ratelimit-limit'
  return {
    ...rest,
    differences: [
      ...limits,
      ...rest.differences.filter((each) => limited === 'gateway' || !isLimitHeader(each)),
    ],
  }
}
