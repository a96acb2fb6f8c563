/** An answer as plain data: every transport writes it in its own way, without a detour through a stream. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The body's text; empty for none. */
  readonly body: string
}

/** What a transport does with a request. All but `answer` come from faults. */
export type Reply =
  | { readonly kind: 'answer'; readonly answer: Answer }
  /** The connection ends before a byte of an answer. `code` is what the caller's platform then says. */
  | { readonly kind: 'closed'; readonly code: string }
  /** Nothing ever comes. */
  | { readonly kind: 'silence' }
  /** The answer's headers and the first part of its body come, then the connection ends. */
  | { readonly kind: 'truncated'; readonly answer: Answer; readonly part: string }

/** The parts of a `Request` that the mock reads. Every `Request` is one. */
export interface IncomingRequest {
  readonly method: string
  /** Absolute. */
  readonly url: string
  readonly headers: { get(name: string): string | null }
  readonly signal: AbortSignal | null
  /** Whether the sender has left, where that is known without making a signal. */
  hasLeft?(): boolean
  /** Whether the body's bytes were UTF-8, once it is read, where that is known. */
  isUtf8?(): boolean
  text(): Promise<string>
}

/** An answer without a fault. */
export const replyWith = (answer: Answer): Reply => ({ kind: 'answer', answer })

/** An answer of JSON. */
export const jsonAnswer = (
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Answer => ({
  status,
  headers: { 'Content-Type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

/** A `Response` as an answer. */
export const answerOf = async (response: Response): Promise<Answer> => ({
  status: response.status,
  headers: Object.fromEntries(response.headers),
  body: await response.text(),
})

const BODYLESS = new Set([101, 204, 205, 304])

/** Whether an answer of this status may carry a body. */
export const mayHaveBody = (status: number): boolean => !BODYLESS.has(status)
