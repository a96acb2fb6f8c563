import { editDistance } from '../domain/nearest-name.ts'
import type { Route } from './router.ts'

// No route is nearly as long: what comes after that only makes a path more different.
const LONGEST_COMPARED = 64
const MOST_SEGMENTS = 16

const wordDistance = (word: string, other: string): number => {
  if (word === other) return 0
  const left = [...word.slice(0, LONGEST_COMPARED)]
  const right = [...other.slice(0, LONGEST_COMPARED)]
  return (
    editDistance(left, right, (one, another) => (one === another ? 0 : 1)) /
    Math.max(left.length, right.length, 1)
  )
}

// A parameter takes any word, but a template that names the word is nearer.
const PARAMETER_COST = 0.25

const segmentDistance = (segment: string, template: string): number =>
  template.startsWith(':') ? (segment === '' ? 1 : PARAMETER_COST) : wordDistance(segment, template)

/** A route that was not asked for, and how far it is from what was asked. */
export interface NearestRoute {
  /** For example `POST /api/v1/mfs/charges`. */
  readonly route: string
  readonly distance: number
}

/** The route whose template is most like a path that no route has. */
export const nearestRoute = (
  path: string,
  method: string,
  routes: readonly Route<unknown>[],
): NearestRoute | undefined => {
  const segments = path.split('/', MOST_SEGMENTS + 1).slice(1)
  let nearest: NearestRoute | undefined
  for (const { methods, path: template } of routes) {
    const far =
      editDistance(segments, template.split('/').slice(1), segmentDistance) +
      (methods.includes(method) ? 0 : 0.1)
    if (nearest === undefined || far < nearest.distance) {
      nearest = { route: `${methods[0] ?? method} ${template}`, distance: far }
    }
  }
  return nearest
}
