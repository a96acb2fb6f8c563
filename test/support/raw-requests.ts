/** A `fetch`, whoever implements it. */
export type Fetch = (url: string, init?: FetchInit) => Promise<FetchedResponse>

export interface FetchInit {
  method?: string
  headers?: Record<string, string>
  body?: string
  signal?: AbortSignal
}

type FetchedResponse = Pick<Seen, 'status' | 'headers'> & { text(): Promise<string> }

/** What to send: text goes as it is, anything else as JSON. */
export interface Sending extends Omit<FetchInit, 'body'> {
  readonly body?: unknown
}

/** A response with its body. */
export interface Seen {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  readonly text: string
  /** The JSON object of the body; empty for anything else, because some responses are broken on purpose. */
  readonly json: Record<string, unknown>
}

const objectOf = (text: string): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && !Array.isArray(value) ? { ...value } : {}
  } catch {
    return {}
  }
}

/** Sends a request that no client of ours would send: POST unless told otherwise. */
export const send = async (fetch: Fetch, url: string, sending: Sending = {}): Promise<Seen> => {
  const { body, headers = {}, ...init } = sending
  const isText = body === undefined || typeof body === 'string'
  const response = await fetch(url, {
    method: 'POST',
    ...init,
    headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, json: objectOf(text) }
}

/** The Authorization header of a bearer. */
export const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })
