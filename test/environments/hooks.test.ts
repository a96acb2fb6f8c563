import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { pino } from 'pino'
import { describe, expect, onTestFinished, test } from 'vitest'
import { makeCalls } from '../../examples/hooks/calls.ts'
import { openTelemetryHooks } from '../../examples/hooks/opentelemetry.ts'
import { pinoHooks } from '../../examples/hooks/pino.ts'
import { createMock } from '../../mocks/core.ts'
import { GatewayClient, SubscriptionsClient } from '../../src/index.ts'
import { CHARGE_REQUEST } from '../support/bodies.ts'

const { subscriptions, gateway } = createMock().clientOptions
const SECRETS = [subscriptions.credentials.clientSecret, subscriptions.credentials.password, gateway.apiKey]

const expectNoSecret = (text: string): void => {
  expect(SECRETS.filter((secret) => text.includes(secret))).toEqual([])
  expect(text).not.toMatch(/bearer|access_token|refresh_token|authorization/i)
}

test('the pino example logs attempts, responses, retries and failures, each at its level, and no secret', async () => {
  const lines: string[] = []
  const logger = pino({ level: 'debug', base: null }, { write: (line: string) => lines.push(line) })
  await makeCalls(pinoHooks(logger))
  const entries = lines.map((line) => JSON.parse(line))
  const charge = entries.filter(({ idempotencyKey }) => idempotencyKey === 'order-1001')
  expect(charge.map(({ level, msg, status }) => [level, msg, status])).toEqual([
    [20, 'request', undefined],
    [30, 'response', 503],
    [40, 'retry', 503],
    [20, 'request', undefined],
    [30, 'response', 202],
  ])
  expect(entries.filter(({ msg }) => msg === 'failed')).toMatchObject([
    { level: 50, operation: 'gateway.status', code: 'api_error', status: 404, outcome: 'rejected' },
    { level: 50, operation: 'gateway.charge', code: 'connection_failed', outcome: 'unknown', attempts: 3 },
  ])
  expect(entries.filter(({ msg }) => msg === 'token renewed')).toMatchObject([{ reason: 'first' }])
  expect(entries.filter((entry) => 'call' in entry)).toEqual([])
  expectNoSecret(lines.join('\n'))
})

const tracing = () => {
  const exporter = new InMemorySpanExporter()
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
  const tracer = provider.getTracer('test')
  return { hooks: openTelemetryHooks(tracer), tracer, spans: () => exporter.getFinishedSpans() }
}

describe('the OpenTelemetry example', () => {
  test('creates a client span of each attempt, by the HTTP conventions', async () => {
    const { hooks, spans } = tracing()
    await makeCalls(hooks)
    const key = 'mandatekit.idempotency_key'
    const attempts = spans().filter(({ attributes }) => attributes[key] === 'order-1001')
    const common = {
      'mandatekit.operation': 'gateway.charge',
      [key]: 'order-1001',
      'http.request.method': 'POST',
      'url.full': 'https://gateway.mandatekit.test/api/v1/mfs/charges',
      'url.template': '/api/v1/mfs/charges',
      'server.address': 'gateway.mandatekit.test',
      'server.port': 443,
    }
    const [lost, made] = attempts
    for (const span of attempts)
      expect(span).toMatchObject({ name: 'POST /api/v1/mfs/charges', kind: SpanKind.CLIENT })
    expect(attempts.map(({ status }) => status.code)).toEqual([SpanStatusCode.ERROR, SpanStatusCode.UNSET])
    expect(lost?.attributes).toEqual({ ...common, 'http.response.status_code': 503, 'error.type': '503' })
    const again = { 'http.response.status_code': 202, 'http.request.resend_count': 1 }
    expect(made?.attributes).toEqual({ ...common, ...again })
  })

  test('creates a span of each failed call around its attempts', async () => {
    const { hooks, spans } = tracing()
    await makeCalls(hooks)
    const failed = spans().filter(({ kind }) => kind === SpanKind.INTERNAL)
    expect(failed.map(({ name, status }) => [name, status.code])).toEqual([
      ['gateway.status', SpanStatusCode.ERROR],
      ['gateway.charge', SpanStatusCode.ERROR],
    ])
    expect(failed.map(({ attributes }) => attributes)).toMatchObject([
      { 'error.type': 'api_error', 'mandatekit.outcome': 'rejected', 'mandatekit.error_code': 'not_found' },
      { 'error.type': 'connection_failed', 'mandatekit.outcome': 'unknown', 'mandatekit.attempts': 3 },
    ])
    const lost = spans().filter(({ attributes }) => attributes['mandatekit.idempotency_key'] === 'order-1002')
    const types = ['response-lost', 'response-lost', 'connection_failed', 'connection_failed']
    expect(lost.map(({ attributes }) => attributes['error.type'])).toEqual(types)
    expect(lost.every(({ ended }) => ended)).toBe(true)
    expectNoSecret(JSON.stringify(spans().map(({ name, attributes, events }) => [name, attributes, events])))
  })

  test('creates a span of a call that fails before its first attempt', async () => {
    const { hooks, spans } = tracing()
    const mock = createMock()
    const { credentials, ...options } = mock.clientOptions.subscriptions
    const wrong = { ...credentials, password: 'not-the-password' }
    const client = new SubscriptionsClient({ ...options, credentials: wrong, fetch: mock.fetch, hooks })
    await client.details('sub-1').catch(() => undefined)
    const names = spans().map(({ name, attributes }) => [name, attributes['mandatekit.phase']])
    expect(names).toContainEqual(['subscriptions.details', 'login'])
  })

  test('puts the attempts under the span that is active when the method is called', async () => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
    onTestFinished(() => context.disable())
    const { hooks, tracer, spans } = tracing()
    const mock = createMock()
    const client = new GatewayClient({ ...mock.clientOptions.gateway, fetch: mock.fetch, hooks })
    await tracer.startActiveSpan('checkout', async (span) => {
      await client.charge(CHARGE_REQUEST)
      span.end()
    })
    const [attempt, checkout] = spans()
    expect(attempt?.name).toBe('POST /api/v1/mfs/charges')
    expect(attempt?.parentSpanContext?.spanId).toBe(checkout?.spanContext().spanId)
    expect(trace.getActiveSpan()).toBeUndefined()
  })
})
