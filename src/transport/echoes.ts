import type { UnexpectedReport } from './hooks.ts'
import type { PreparedCall } from './prepared-call.ts'

/** A field's text, whether it came as a number or as text; a plus, spaces and casing are how it is written. */
const textOf = (fields: unknown, name: string): string =>
  String(Reflect.get(Object(fields), name) ?? '')
    .replace(/[+\s]/g, '')
    .toUpperCase()

/** The report, if any, of a success that does not repeat what was sent: it is the answer to another request. */
export const echoReports = (
  { endpoint: { operation, echoes = [] }, fields }: PreparedCall,
  data: unknown,
): UnexpectedReport[] => {
  const odd = echoes.filter((name) => !['', textOf(fields, name)].includes(textOf(data, name)))
  if (odd.length === 0) return []
  const message = `${odd.join(' and ')} of the answer: not what was sent; the server writes it otherwise, or this idempotency key was used before, for another ${operation.split('.')[1]}`
  return [{ operation, field: odd[0], rule: 'what was sent', received: 'another value', message }]
}
