import type { CallIdentity } from './call-record.ts'

const segmentsOf = (path: string): readonly string[] => path.split('/').slice(1)

/**
 * Names a request in an error's message: method, origin and path template. Identifiers and the query stay out, and
 * `…` stands for a path of the caller's own in front of the template: it could hold a secret.
 */
export const placeOf = ({ endpoint, method, url }: CallIdentity): string => {
  const { origin, pathname } = new URL(url)
  const sent = segmentsOf(pathname).toReversed()
  const template = segmentsOf(endpoint.path).toReversed()
  const differing = template.findIndex(
    (segment, index) => segment !== sent[index] && !segment.startsWith(':'),
  )
  const shown = differing < 0 ? template : template.slice(0, differing)
  const path = [...shown, ...(sent.length > shown.length ? ['…'] : [])].toReversed()
  return `${method} ${origin}/${path.join('/')}`
}
