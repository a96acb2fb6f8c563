import type { Authorizer } from '../auth/authorizer.ts'
import type { AuthKind, EndpointDefinition, ResponseOf } from '../contract/endpoint.ts'
import type { PathPrefix } from './address.ts'
import { pathOf, queryOf, withPrefix } from './address.ts'
import type { CallEnvironment } from './call.ts'
import { runCall } from './call.ts'
import type { CallOptions } from './call-options.ts'
import { callLimits, callOptionIssues } from './call-options.ts'
import type { Answered } from './call-promise.ts'
import type { ClientSettings } from './client-options.ts'
import type { CheckedInput } from './input-check.ts'
import { checkInput, idempotencyKeyIssues, parameterIssues } from './input-check.ts'
import { refuse, whileReading } from './input-issues.ts'
import type { PreparedCall } from './prepared-call.ts'
import { randomKey } from './random-key.ts'
import { RateLimitGate } from './rate-limit-gate.ts'

/** What a method gives for one call, unchecked. */
export interface CallInput {
  readonly parameters?: Readonly<Record<string, unknown>>
  readonly query?: unknown
  readonly body?: unknown
  /** Checks the body instead of the endpoint's own schema. */
  readonly schema?: EndpointDefinition['request']
  readonly idempotencyKey?: unknown
  /** The caller's names of parameters and fields that have another one on the wire. */
  readonly aliases?: Readonly<Record<string, string>>
  /** The names of the options, where they are not those of every call. */
  readonly ownOptions?: readonly string[]
  readonly method?: string
  readonly form?: boolean
  readonly options?: CallOptions | undefined
}

/** How a client's operations differ from another client's. */
export interface OperationsSetup {
  readonly settings: ClientSettings
  readonly prefix: string
  /** What is sent where the specification defines no body fields: `{}`, or no body. */
  readonly emptyBody: 'object' | 'none'
  readonly authorizers: Partial<Record<AuthKind, Authorizer>>
}

const checkedValue = (input: CheckedInput | undefined): unknown =>
  input !== undefined && 'value' in input ? input.value : undefined

const issuesOf = (input: CheckedInput | undefined) =>
  input !== undefined && 'issues' in input ? input.issues : []

/** Checks what methods give, and makes calls of it. One per client. */
export class Operations {
  readonly #environment: CallEnvironment
  readonly #setup: OperationsSetup
  readonly #prefix: PathPrefix | undefined
  readonly #ending: string | undefined

  constructor(setup: OperationsSetup) {
    const { settings, prefix } = setup
    this.#setup = setup
    this.#prefix = settings.apiPrefix === undefined ? undefined : { from: prefix, to: settings.apiPrefix }
    const added = settings.apiPrefix === undefined ? ['/api/v1', '/api/v1.0'] : [settings.apiPrefix]
    this.#ending = added.find((each) => settings.baseUrl.endsWith(each))
    this.#environment = {
      settings,
      gate: settings.holdsBack ? new RateLimitGate(settings.clock) : undefined,
    }
  }

  /** Checks the input, then makes the call. Input that breaks a rule rejects before any I/O, a login included. */
  async call<Definition extends EndpointDefinition>(
    endpoint: Definition,
    input: CallInput = {},
  ): Promise<Answered<ResponseOf<Definition>>> {
    return runCall(this.#environment, this.prepare(endpoint, input)) as Promise<
      Answered<ResponseOf<Definition>>
    >
  }

  /** Checks the input of a call, all of it; throws `InvalidRequestError` with every rule that is broken. */
  prepare(endpoint: EndpointDefinition, input: CallInput): PreparedCall {
    return whileReading(endpoint.operation, 'the input', () => this.#prepare(endpoint, input))
  }

  #prepare(endpoint: EndpointDefinition, input: CallInput): PreparedCall {
    const { settings, authorizers } = this.#setup
    const { parameters = {}, form = false, options, aliases, ownOptions } = input
    const of = endpoint.operation.slice(endpoint.operation.indexOf('.') + 1)
    const schema = input.schema ?? endpoint.request
    const body = schema && checkInput(schema, input.body, { argument: 'request', of, aliases })
    const query =
      endpoint.query && checkInput(endpoint.query, input.query ?? {}, { argument: 'query', of, aliases })
    refuse(endpoint.operation, [
      ...parameterIssues(parameters, aliases),
      ...issuesOf(body),
      ...issuesOf(query),
      ...idempotencyKeyIssues(input.idempotencyKey),
      ...callOptionIssues(options, ownOptions, of),
    ])
    const path = pathOf(endpoint.path, parameters as Readonly<Record<string, string>>)
    const fields = checkedValue(body)
    const method = input.method ?? endpoint.method
    return {
      endpoint,
      method,
      url: `${settings.baseUrl}${withPrefix(path, this.#prefix)}${queryOf(checkedValue(query))}`,
      ending: this.#ending,
      fields,
      body: this.#bodyOf(method, fields, form),
      contentType: form ? 'application/x-www-form-urlencoded' : 'application/json',
      idempotencyKey: endpoint.idempotencyKey
        ? ((input.idempotencyKey as string | undefined) ?? randomKey())
        : undefined,
      ownKey: endpoint.idempotencyKey && input.idempotencyKey === undefined,
      authorizer: authorizers[endpoint.auth],
      limits: callLimits(settings, options),
    }
  }

  #bodyOf(method: string, fields: unknown, form: boolean): string | undefined {
    if (fields !== undefined) {
      return form ? new URLSearchParams(fields as Record<string, string>).toString() : JSON.stringify(fields)
    }
    return method === 'GET' || this.#setup.emptyBody === 'none' ? undefined : '{}'
  }
}
