import type { Answer, IncomingRequest } from './answer.ts'

const EXPOSED = 'Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Location, Allow'

/** Whether a browser (or happy-dom) asks what it may send. */
export const isPreflight = (request: IncomingRequest): boolean =>
  request.method === 'OPTIONS' && request.headers.get('access-control-request-method') !== null

/** Says that everything may be sent: the mock holds nothing to protect. */
export const preflightAnswer = (request: IncomingRequest): Answer => ({
  status: 204,
  headers: {
    'Access-Control-Allow-Origin': request.headers.get('origin') ?? '*',
    'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
    'Access-Control-Allow-Headers':
      request.headers.get('access-control-request-headers') ?? 'Authorization, Content-Type, Idempotency-Key',
    'Access-Control-Max-Age': '600',
    Vary: 'Origin, Access-Control-Request-Headers',
  },
  body: '',
})

/** Lets a page of another origin read the answer. */
export const withCors = (answer: Answer, origin: string | null): Answer =>
  origin === null
    ? answer
    : {
        ...answer,
        headers: {
          ...answer.headers,
          'Access-Control-Allow-Origin': origin,
          'Access-Control-Expose-Headers': EXPOSED,
          Vary: 'Origin',
        },
      }
