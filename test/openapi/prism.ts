import { getHttpOperationsFromSpec } from '@stoplight/prism-http'
import { createClientFromOperations } from '@stoplight/prism-http/dist/client.js'
import type { Json } from '../../scripts/openapi/schemas.ts'
import { joined } from './documents.ts'

type Client = ReturnType<typeof createClientFromOperations>
type Configuration = NonNullable<Parameters<Client['request']>[2]>

const ignore = (): void => undefined
const silent: Record<string, unknown> = {
  ...Object.fromEntries(
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'success'].map((name) => [name, ignore]),
  ),
  child: () => silent,
}

const parsed = (text: string, type: string): unknown => {
  if (text === '') return undefined
  if (!type.startsWith('application/json')) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** What Prism says about a request and its response. */
export interface Violations {
  readonly request: readonly string[]
  readonly response: readonly string[]
}

/** Loads a document into Prism. */
export const openPrism = async (document: Json) => {
  const operations = await getHttpOperationsFromSpec(structuredClone(document))
  /** Returns a `fetch` whose responses come from Prism, and which reports violations. */
  return (configuration: Configuration, report: (place: string, violations: Violations) => void) => {
    const defaults = {
      validateRequest: true,
      validateResponse: true,
      checkSecurity: true,
      errors: false,
      ...configuration,
    }
    const client = createClientFromOperations(
      operations,
      Object.assign(defaults, { logger: silent }) as never,
    )
    return async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
      const request = new Request(input, init)
      // A server closes an idle connection, for example while Prism compiles its schemas.
      const headers = { ...Object.fromEntries(request.headers), connection: 'close' }
      const body = parsed(await request.text(), request.headers.get('content-type') ?? '')
      const method = request.method.toLowerCase() as 'get' | 'post' | 'delete'
      const sent = body === undefined ? { method, headers } : { method, headers, body }
      const response = await client.request(request.url, sent)
      const texts = (found: readonly { message: string; path?: readonly unknown[] | undefined }[]) =>
        found.map(({ message, path = [] }) => `${path.join('.')}: ${message}`)
      report(`${request.method} ${request.url} ${response.status}`, {
        request: texts(response.violations.input),
        response: texts(response.violations.output),
      })
      const { data } = response
      const text = typeof data === 'string' ? data : JSON.stringify(data)
      const isEmpty = response.status === 204 || data === undefined || data === null
      return new Response(isEmpty ? null : text, {
        status: response.status,
        headers: { 'content-type': 'application/json', ...response.headers },
      })
    }
  }
}

/** Returns the `fetch` of a Prism proxy before a server, and the list of its findings. */
export const proxyTo = async (upstream: string, side: 'both' | 'response' = 'both') => {
  const found: string[] = []
  let count = 0
  const prism = await openPrism(joined(upstream))
  const fetch = prism(
    { isProxy: true, upstream: new URL(upstream), mock: { dynamic: false } } as never,
    (place, { request, response }) => {
      count += 1
      const all = side === 'both' ? [...request, ...response] : response
      found.push(...all.map((text) => `${place}: ${text}`))
    },
  )
  return { fetch, found, count: () => count }
}
