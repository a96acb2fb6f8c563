import { type Span, SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api'
import { ConsoleSpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import {
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_REQUEST_RESEND_COUNT,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_SERVER_ADDRESS,
  ATTR_SERVER_PORT,
  ATTR_URL_FULL,
} from '@opentelemetry/semantic-conventions'
import type { CallEvent, Hooks, RequestEvent } from 'mandatekit'
import { isProgram } from '../frameworks/run.ts'
import { makeCalls } from './calls.ts'

// To run this example: node examples/hooks/opentelemetry.ts

// `url.template` is not stable yet in the semantic conventions, so their package does not export this name.
const ATTR_URL_TEMPLATE = 'url.template'

/** The state of a running call. */
interface Watched {
  readonly startedAt: Date
  /** The span of the attempt in progress. */
  span: Span | undefined
}

const attributesOf = ({ operation, method, path, url, idempotencyKey }: CallEvent) => ({
  'mandatekit.operation': operation,
  ...(idempotencyKey !== undefined && { 'mandatekit.idempotency_key': idempotencyKey }),
  [ATTR_HTTP_REQUEST_METHOD]: method,
  [ATTR_URL_FULL]: url,
  [ATTR_URL_TEMPLATE]: path,
})

const serverOf = (url: string) => {
  const { hostname, port, protocol } = new URL(url)
  const standard = protocol === 'https:' ? 443 : 80
  return { [ATTR_SERVER_ADDRESS]: hostname, [ATTR_SERVER_PORT]: port === '' ? standard : Number(port) }
}

/**
 * Traces calls with the HTTP semantic conventions. Each attempt has a client span, and `http.request.resend_count`
 * counts the retries. If a call fails, one more span covers all its attempts and waits, and contains the outcome
 * (`mandatekit.outcome`). The parent of all spans is the span that is active when your code calls the client's method.
 */
export const openTelemetryHooks = (tracer: Tracer): Hooks => {
  const calls = new WeakMap<object, Watched>()

  const begin = (event: RequestEvent): void => {
    const { call, method, path, url, attempt } = event
    const span = tracer.startSpan(`${method} ${path}`, {
      kind: SpanKind.CLIENT,
      attributes: {
        ...attributesOf(event),
        ...serverOf(url),
        ...(attempt > 1 && { [ATTR_HTTP_REQUEST_RESEND_COUNT]: attempt - 1 }),
      },
    })
    calls.set(call, { startedAt: calls.get(call)?.startedAt ?? new Date(), span })
  }

  /** Ends the span of the current attempt, unless the span has already ended. */
  const end = (call: object, errorType: string | undefined): void => {
    const watched = calls.get(call)
    if (watched?.span === undefined) return
    if (errorType !== undefined) {
      watched.span.setAttribute(ATTR_ERROR_TYPE, errorType).setStatus({ code: SpanStatusCode.ERROR })
    }
    watched.span.end()
    watched.span = undefined
  }

  return {
    onRequest: begin,
    onResponse({ call, status }) {
      calls.get(call)?.span?.setAttribute(ATTR_HTTP_RESPONSE_STATUS_CODE, status)
      end(call, status >= 400 ? String(status) : undefined)
    },
    onRetry({ call, reason }) {
      end(call, reason)
    },
    onError(event) {
      const { call, operation, code = 'unknown', phase, outcome, attempts, status, errorCode } = event
      end(call, code)
      tracer
        .startSpan(operation, {
          startTime: calls.get(call)?.startedAt ?? new Date(),
          attributes: {
            ...attributesOf(event),
            [ATTR_ERROR_TYPE]: code,
            'mandatekit.attempts': attempts,
            ...(phase !== undefined && { 'mandatekit.phase': phase }),
            ...(outcome !== undefined && { 'mandatekit.outcome': outcome }),
            ...(status !== undefined && { [ATTR_HTTP_RESPONSE_STATUS_CODE]: status }),
            ...(errorCode !== undefined && { 'mandatekit.error_code': errorCode }),
          },
        })
        .setStatus({ code: SpanStatusCode.ERROR })
        .end()
    },
  }
}

if (isProgram(import.meta.url)) {
  const spanProcessors = [new SimpleSpanProcessor({ exporter: new ConsoleSpanExporter() })]
  const provider = new TracerProvider({ spanProcessors })
  await makeCalls(openTelemetryHooks(provider.getTracer('mandatekit')))
  await provider.shutdown()
}
