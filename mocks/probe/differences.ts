import type { EndpointDefinition } from '../../src/contract/endpoint.ts'
import { isObject, type Json, jsonOf, received } from '../../src/contract/fields.ts'
import { gatewayErrorSchema } from '../../src/contract/gateway.ts'
import { envelopeSchema } from '../../src/contract/subscriptions.ts'
import { MINUTE } from '../time/duration.ts'
import { textOf } from './exchanges.ts'

/** How two responses differ at one place. */
export interface Finding {
  /** `status`, `header retry-after`, or the field, such as `subscriptionPayments[].dueDate`. */
  readonly place: string
  /** What differs: for example a `missing` field, the `type` of a value, or the `order` of a list. */
  readonly kind:
    | 'status'
    | 'header'
    | 'missing'
    | 'unexpected'
    | 'type'
    | 'format'
    | 'value'
    | 'paging'
    | 'order'
  /** What the server sent. */
  readonly recorded: unknown
  /** What the mock sent. */
  readonly mock: unknown
}

const IDENTIFIER =
  /^(?:id|(?:invoice|subscription|payment|(?:reverseT|t)ransaction)I[dD]|confirmation_id|(?:access|refresh)_token)$/
const FREE_TEXT = /^(?:errorMessage|message|description)$/
const URL_TEXT = /^https?:\/\//
const TIME = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)/
const REVERSAL_TIME = /^reverseTransactionDate$/

// A server needs some time to create a record, and its clock may differ. Banks execute payments in batches.
const TOLERANCES: readonly (readonly [name: RegExp, milliseconds: number])[] = [
  [/^created/, 2 * MINUTE],
  [/^(?:transactionDate|nextPaymentDate)$/, 15 * MINUTE],
]

const shapeOf = (text: string): string => text.replace(/\.\d+/, '.0').replace(/\d/g, '0')

const millisecondsOf = (text: string): number => {
  const [, day, time] = TIME.exec(text) ?? []
  return Date.parse(`${day}T${time}Z`)
}

/** Compares a received body with the mock's. */
export const createBodyComparison = (operation: string, ids: Map<string, string>) => {
  const isIdentifier = (name: string): boolean =>
    IDENTIFIER.test(name) || (/^requestI[dD]$/.test(name) && /cancel/.test(operation))

  const texts = (name: string, place: string, recorded: string, mock: string): Finding[] => {
    const finding = (kind: Finding['kind']): Finding[] => [{ place, kind, recorded, mock }]
    if (FREE_TEXT.test(name) || (URL_TEXT.test(recorded) && URL_TEXT.test(mock))) return []
    if (!TIME.test(mock) || !TIME.test(recorded)) return recorded === mock ? [] : finding('value')
    if (shapeOf(recorded) !== shapeOf(mock)) return finding('format')
    const tolerance = TOLERANCES.find(([names]) => names.test(name))?.[1] ?? 0
    const isNear = Math.abs(millisecondsOf(recorded) - millisecondsOf(mock)) <= tolerance
    return isNear || REVERSAL_TIME.test(name) ? [] : finding('value')
  }

  /** Compares two identifiers. The mock has its own ids, so this stores which mock id stands for which recorded id. */
  const identifiers = (place: string, recorded: unknown, mock: unknown): Finding[] => {
    const known = ids.get(String(recorded))
    if (known === undefined) ids.set(String(recorded), String(mock))
    return known === undefined || known === String(mock)
      ? []
      : [{ place, kind: 'value', recorded, mock: `${mock}, not ${known}` }]
  }

  const values = (name: string, place: string, recorded: unknown, mock: unknown): Finding[] => {
    if (Array.isArray(recorded) && Array.isArray(mock)) return lists(place, recorded, mock)
    if (isObject(recorded) && isObject(mock)) return objects(place, recorded, mock)
    const isSameType = typeof recorded === typeof mock && (recorded === null) === (mock === null)
    if (isIdentifier(name) && recorded && mock) {
      const found = identifiers(place, recorded, mock)
      return isSameType ? found : [{ place, kind: 'type', recorded, mock }]
    }
    if (!isSameType || (typeof recorded === 'object' && recorded !== mock))
      return [{ place, kind: 'type', recorded, mock }]
    if (typeof recorded === 'string' && typeof mock === 'string') return texts(name, place, recorded, mock)
    return recorded === mock ? [] : [{ place, kind: 'value', recorded, mock }]
  }

  const objects = (place: string, recorded: Json, mock: Json): Finding[] =>
    [...new Set([...Object.keys(recorded), ...Object.keys(mock)])].flatMap((name) => {
      const inner = place === '' ? name : `${place}.${name}`
      if (name in recorded && name in mock) return values(name, inner, recorded[name], mock[name])
      const other = received(mock, name)
      if (isIdentifier(name) && name in recorded && other !== undefined)
        identifiers(inner, recorded[name], other)
      return [
        {
          place: inner,
          kind: name in mock ? 'missing' : 'unexpected',
          recorded: recorded[name],
          mock: mock[name],
        },
      ]
    })

  /** Compares two pages. Only the payment list has pages, and each payment has a due date. */
  const lists = (place: string, recorded: readonly unknown[], mock: readonly unknown[]): Finding[] => {
    const daysOf = (list: readonly unknown[]): string[] => list.map((each) => textOf(Object(each), 'dueDate'))
    const [seen, own] = [daysOf(recorded), daysOf(mock)]
    const rest = [...mock]
    const pairs = recorded.flatMap((each, index) => {
      const at = rest.findIndex((other) => textOf(Object(other), 'dueDate') === seen[index])
      return at === -1 ? [] : [[each, rest.splice(at, 1)[0]] as const]
    })
    const found = pairs.flatMap(([one, other]) => values('', `${place}[]`, one, other))
    if (seen.join() === own.join()) return found
    const isOrder =
      seen.length > 1 && seen.join() === [...seen].sort().reverse().join() && new Set(seen).size > 1
    if (isOrder) return [...found, { place, kind: 'order', recorded: seen, mock: own }]
    return [...found, { place, kind: 'paging', recorded: seen, mock: own }]
  }

  return (recorded: unknown, mock: unknown): Finding[] => values('', '', recorded, mock)
}

const hasType = (type: unknown, value: unknown): boolean => {
  if (Array.isArray(type)) return type.some((each) => hasType(each, value))
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  return type === 'object' ? isObject(value) : typeof value === type
}

const checkSchema = (schema: Json, value: unknown, place: string, isPartial = false): Finding[] => {
  const finding = (kind: Finding['kind'], at = place): Finding => ({
    place: at,
    kind,
    recorded: value,
    mock: schema,
  })
  if (schema.type !== undefined && !hasType(schema.type, value)) return [finding('type')]
  if (typeof schema.pattern === 'string' && !new RegExp(schema.pattern).test(String(value)))
    return [finding('format')]
  if (Array.isArray(value))
    return value.flatMap((each) => checkSchema(Object(schema.items), each, `${place}[]`, isPartial))
  if (!isObject(value)) return []
  return Object.entries<Json>(Object(schema.properties)).flatMap(([name, inner]) => {
    const at = place === '' ? name : `${place}.${name}`
    if (name in value) return checkSchema(inner, value[name], at, isPartial)
    return isPartial || !Object(schema.required ?? []).includes(name) ? [] : [finding('missing', at)]
  })
}

/** Checks a body against the schema of the OpenAPI documents. */
export const checkBody = (
  definition: EndpointDefinition,
  succeeded: boolean,
  body: unknown,
): readonly Finding[] => {
  const error = definition.operation.startsWith('gateway') ? gatewayErrorSchema : envelopeSchema
  if (!succeeded) return checkSchema(jsonOf(error), body, '')
  const isPartial = definition.partialResponse === true
  if (isPartial && body === undefined) return []
  const envelope =
    definition.envelope === 'optional' ? checkSchema(jsonOf(envelopeSchema), body, '', true) : []
  const response: Json = {
    ...jsonOf(definition.response),
    ...(isPartial && { required: definition.requiredFields ?? [] }),
  }
  return [...checkSchema(response, body, ''), ...envelope]
}
