import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Json } from '../../scripts/openapi/schemas.ts'

/** A request and its response, as a program between client and server sees them. */
export interface Observed {
  readonly method: string
  readonly url: string
  readonly sentHeaders: Readonly<Record<string, string>>
  readonly sentBody: string
  readonly status: number
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/** Returns a `fetch` that adds each request and its response to `seen`. */
export const observing =
  (fetch: Fetch, seen: Observed[]): Fetch =>
  async (input, init) => {
    const request = new Request(input, init)
    const sentBody = await request.clone().text()
    const response = await fetch(request)
    const body = await response.clone().text()
    const { method, url } = request
    const sentHeaders = Object.fromEntries(request.headers)
    seen.push({
      method,
      url,
      sentHeaders,
      sentBody,
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body,
    })
    return response
  }

/** Headers that HTTP itself gives any response. */
const HTTP_HEADERS = new Set(
  'content-type content-length date connection keep-alive transfer-encoding vary'.split(' '),
)

const FORMATS = {
  int64: { type: 'number', validate: Number.isSafeInteger },
  uri: URL.canParse,
  date: /^\d{4}-\d{2}-\d{2}$/,
  'date-time': /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/,
} as const

const partOf = (value: unknown): Json => Object(value)
const partsIn = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.map(partOf) : [])

/** Returns a copy whose objects allow no other fields, and whose open enumerations allow known values only. */
const closed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(closed)
  if (typeof value !== 'object' || value === null) return value
  const copy = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, closed(inner)]))
  const { anyOf, properties, type } = copy
  if (Array.isArray(anyOf)) return { ...copy, anyOf: [anyOf[0]] }
  return type === 'object' && properties !== undefined ? { ...copy, additionalProperties: false } : copy
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const mediaType = (headers: Observed['headers']): string =>
  (headers['content-type'] ?? '').split(';', 1)[0] ?? ''

/**
 * Creates the comparison of HTTP traffic with an OpenAPI document. It finds what validators of open schemas miss:
 * statuses and headers that the document does not have, and fields that no schema has.
 */
export const createAgreement = (document: Json) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true, formats: FORMATS }).addSchema(
    Object(closed(document)),
    'api',
  )
  const resolve = (part: unknown): Json => {
    const { $ref } = partOf(part)
    if (typeof $ref !== 'string') return partOf(part)
    const found = $ref
      .split('/')
      .slice(1)
      .reduce<Json>((place, name) => partOf(place[name]), document)
    return found
  }
  const compiled = new Map<string, ValidateFunction>()
  /** Lists what a schema at a JSON pointer refuses. */
  const refusals = (pointer: readonly string[], value: unknown, place: string): string[] => {
    const $ref = `api#/${pointer.map((name) => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`
    const validate = compiled.get($ref) ?? ajv.compile({ $ref })
    compiled.set($ref, validate)
    if (validate(value)) return []
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${place}${instancePath} ${message} ${JSON.stringify(params)}`,
    )
  }

  // A literal segment takes precedence over a parameter.
  const routes = Object.entries(partOf(document.paths))
    .map(([path, item]) => ({
      path,
      item: partOf(item),
      pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '([^/]+)')}$`),
    }))
    .sort((one, other) => other.path.indexOf('{') - one.path.indexOf('{'))

  const requestProblems = (path: string, method: string, operation: Json, seen: Observed): string[] => {
    const { requestBody, parameters } = operation
    const query = new URL(seen.url).searchParams
    const missing = partsIn(parameters)
      .filter(({ in: place, required }) => place === 'header' && required === true)
      .filter(({ name }) => (seen.sentHeaders[String(name).toLowerCase()] ?? '') === '')
      .map(({ name }) => `the request lacks the header ${name}`)
    const known = partsIn(parameters).filter(({ in: place }) => place === 'query')
    const unknown = [...query.keys()]
      .filter((name) => !known.some((parameter) => parameter.name === name))
      .map((name) => `the request has the query parameter ${name}`)
    if (seen.sentBody === '') {
      const isMissing = partOf(requestBody).required === true
      return [...missing, ...unknown, ...(isMissing ? ['the request has no body'] : [])]
    }
    const type = mediaType(seen.sentHeaders)
    if (partOf(partOf(requestBody).content)[type] === undefined)
      return [...missing, ...unknown, `the request has the type ${type}`]
    const value = type.endsWith('json')
      ? parsed(seen.sentBody)
      : Object.fromEntries(new URLSearchParams(seen.sentBody))
    const pointer = ['paths', path, method, 'requestBody', 'content', type, 'schema']
    return [...missing, ...unknown, ...refusals(pointer, value, 'request')]
  }

  const headerProblems = (response: Json, seen: Observed): string[] => {
    const documented = Object.entries(partOf(response.headers)).map(
      ([name, header]) => [name.toLowerCase(), resolve(header)] as const,
    )
    const names = new Set(documented.map(([name]) => name))
    const unknown = Object.keys(seen.headers).filter((name) => !names.has(name) && !HTTP_HEADERS.has(name))
    return [
      ...unknown.map((name) => `the response has the header ${name}`),
      ...documented.flatMap(([name, { required, schema }]) => {
        const value = seen.headers[name]
        if (value === undefined) return required === true ? [`the response lacks the header ${name}`] : []
        const isNumber = partOf(schema).type === 'integer'
        return isNumber && !/^\d+$/.test(value) ? [`the header ${name} is ${value}`] : []
      }),
    ]
  }

  const responseProblems = (path: string, method: string, operation: Json, seen: Observed): string[] => {
    const status = String(seen.status)
    const response = partOf(operation.responses)[status]
    if (response === undefined) return [`the status ${status} is not documented`]
    const headers = headerProblems(partOf(response), seen)
    const { content } = partOf(response)
    if (content === undefined) return seen.body === '' ? headers : [...headers, 'the response has a body']
    const type = mediaType(seen.headers)
    if (partOf(content)[type] === undefined) return [...headers, `the response has the type ${type}`]
    const pointer = ['paths', path, method, 'responses', status, 'content', type, 'schema']
    return [...headers, ...refusals(pointer, parsed(seen.body), 'response')]
  }

  /**
   * Lists the differences between a request with its response and the document. Compares the request only if it is
   * valid, because the mock accepts some requests that the document does not allow.
   */
  return (seen: Observed, isValid = false): string[] => {
    const { pathname } = new URL(seen.url)
    const method = seen.method.toLowerCase()
    const found = routes.find(({ item, pattern }) => item[method] !== undefined && pattern.test(pathname))
    const place = `${seen.method} ${pathname} ${seen.status}`
    if (found === undefined) return [`${place}: no operation`]
    const operation = partOf(found.item[method])
    const request = isValid ? requestProblems(found.path, method, operation, seen) : []
    const response = responseProblems(found.path, method, operation, seen)
    return [...request, ...response].map((problem) => `${place}: ${problem}`)
  }
}
