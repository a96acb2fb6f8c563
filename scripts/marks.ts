import { readFileSync } from 'node:fs'

// Docstrings refer to the specification and to its open points with short marks, such as `S6` and `row 35`. The build
// and the reference site turn them into links.

const { homepage }: { homepage: string } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
)

/** Returns the public address of a page under `docs/`, or of one of its headings or rows. */
export const linkTo = (page: string, anchor?: string): string =>
  `${homepage.replace(/#.*/, '')}/blob/main/docs/${page}.md${anchor === undefined ? '' : `#${anchor}`}`

/** A mark of the specification, or of a row of docs/unknowns.md. */
export const MARK =
  /\b(?:S[1-8]|S-[a-h]|S rule \d|G[1-3]|G rule \d|G (?:health|reference|charge|confirm|status|renew|reset)|Events, note \d|(?:Authentication|Limits|Errors|States), area [SG](?:, rule \d)?|Limits, Pagination|rows? \d+a?)\b/g

/** The place of a mark: `S6` is `specification` and `s6`, and `row 35` is `unknowns` and `row-35`. */
export interface Place {
  readonly page: 'specification' | 'unknowns'
  readonly anchor: string
}

/** Returns the place of a mark. */
export const placeOf = (mark: string): Place => {
  const anchor = mark
    .toLowerCase()
    .replace(/^rows /, 'row ')
    .replaceAll(/[ ,]+/g, '-')
  return { page: anchor.startsWith('row-') ? 'unknowns' : 'specification', anchor }
}

/** The name of a part of the specification, which is a mark only in parentheses. */
const PART = /(?<=\((?:[^()]*; )?)(?:Errors|Events|Limits|Versioning)(?=[;)])/

/** Code, links and tags, whose text stays. */
const KEPT = /(?<kept>```[\s\S]*?```|`[^`]*`|\{@[^}]*\}|\[[^\]]*\]\([^)]*\)|https?:\S+)/

const TOKENS = new RegExp([KEPT, MARK, PART].map(({ source }) => source).join('|'), 'g')

/** Turns the marks in a docstring into Markdown links. */
export const linkMarks = (docstring: string, addressOf: (place: Place) => string): string =>
  docstring.replace(TOKENS, (token, kept?: string) =>
    kept === undefined ? `[${token}](${addressOf(placeOf(token))})` : token,
  )
