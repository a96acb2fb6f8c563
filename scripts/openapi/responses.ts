import type { Area } from '../../src/contract/endpoint.ts'
import { errorComponents, partialName, referenceOf } from './components.ts'
import type { OperationEntry } from './operations.ts'
import { describeRefusal, notShown } from './rules.ts'
import type { Json } from './schemas.ts'
import type { Exchange } from './tour.ts'

const RATE_LIMIT = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']

/** The texts of successes by operation and status. */
const SUCCESSES: Readonly<Record<string, string>> = {
  'gateway.health 200': 'The service and its data store are reachable. The body may be anything.',
  'gateway.reference 200':
    'The test numbers and the dummy code. The specification does not show the shape of the table.',
  'gateway.charge 202':
    'The charge, which awaits its confirmation, or the original charge of a repeated request.',
  'gateway.confirm 200': `The charge with its result. ${notShown('66')}`,
  'gateway.confirm 204': `The code was correct. The charge has its result. ${notShown('66')}`,
  'gateway.status 200': `The charge. The specification shows only \`status\`. ${notShown('67')}`,
  'gateway.renew 201':
    'The renewal with its result, which may be a failure, or the original renewal of a repeated request.',
  'gateway.reset 200': `The charges and events are deleted. ${notShown('68')}`,
}

/** The header component of each area. Only area G requires the header. */
export const retryAfterName = (area: Area): string =>
  area === 'gateway' ? 'Retry-After' : 'Optional-Retry-After'

const headersOf = (area: Area, status?: string): Json => {
  const references = [
    ...(area === 'subscriptions' ? RATE_LIMIT.map((name) => [name, name]) : []),
    ...(status === '429' ? [['Retry-After', retryAfterName(area)]] : []),
  ].map(([name, component]) => [name, { $ref: `#/components/headers/${component}` }])
  return references.length === 0 ? {} : { headers: Object.fromEntries(references) }
}

const successSchema = ({ area, definition }: OperationEntry): Json => {
  if (definition.partialResponse === true) return { $ref: `#/components/schemas/${partialName(definition)}` }
  return referenceOf(area, definition.response) ?? {}
}

/** The first exchange of each rule. */
const firstOfEach = (exchanges: readonly Exchange[]): readonly Exchange[] => {
  const byRule = new Map<string, Exchange>()
  for (const exchange of exchanges) if (!byRule.has(exchange.rule)) byRule.set(exchange.rule, exchange)
  // A repeated request gets the original response, which is no second example.
  byRule.delete('replayed')
  return [...byRule.values()]
}

const contentOf = (schema: Json, exchanges: readonly Exchange[]): Json => {
  const withBody = exchanges.filter(({ body }) => body !== undefined)
  if (withBody.length === 0) return {}
  const examples = withBody.map(({ rule, body }) => [rule.replaceAll('-', '_'), { value: body }])
  return { content: { 'application/json': { schema, examples: Object.fromEntries(examples) } } }
}

/** Writes several texts as a Markdown list. */
const listOf = (texts: readonly string[]): string => {
  const different = [...new Set(texts)]
  return different.length === 1 ? different.join() : different.map((text) => `- ${text}`).join('\n')
}

/** Returns the responses of an operation: those of the tour, and `default`. */
export const responsesOf = (entry: OperationEntry, exchanges: readonly Exchange[]): Json => {
  const { area, operation } = entry
  const error = { $ref: `#/components/schemas/${errorComponents[area]}` }
  const statuses = [...new Set(exchanges.map(({ status }) => status))].sort((one, other) => one - other)
  const known = statuses.map((status) => {
    const examples = firstOfEach(exchanges.filter((each) => each.status === status))
    const isSuccess = status < 300
    const description = isSuccess
      ? (SUCCESSES[`${operation} ${status}`] ?? 'The operation succeeded.')
      : listOf(examples.map(describeRefusal))
    return [
      String(status),
      {
        description,
        ...headersOf(area, String(status)),
        ...contentOf(isSuccess ? successSchema(entry) : error, examples),
      },
    ]
  })
  return {
    ...Object.fromEntries(known),
    default: {
      description: 'Another error.',
      ...headersOf(area),
      content: { 'application/json': { schema: error } },
    },
  }
}
