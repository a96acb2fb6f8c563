/** A part of an OpenAPI document. */
export type DocumentPart = Readonly<Record<string, unknown>>

/** The OpenAPI document of an area, and the path prefix of the area. */
export interface AreaDocument {
  readonly document: DocumentPart
  /** The prefix of the paths in the document. */
  readonly standardPrefix: string
  /** The prefix of the mock's paths (row 49). */
  readonly prefix: string
}

const partOf = (value: unknown): DocumentPart => Object(value)

const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const withPrefix = ({ document, standardPrefix, prefix }: AreaDocument): DocumentPart =>
  Object.fromEntries(
    Object.entries(partOf(document.paths)).map(([path, item]) => [
      path.startsWith(`${standardPrefix}/`) ? prefix + path.slice(standardPrefix.length) : path,
      item,
    ]),
  )

/** Merges the objects with the same name in several objects. No two areas have a component with the same name. */
const merged = (parts: readonly unknown[]): DocumentPart => {
  const result: Record<string, DocumentPart> = {}
  for (const part of parts)
    for (const [name, value] of Object.entries(partOf(part)))
      result[name] = { ...result[name], ...partOf(value) }
  return result
}

/** Joins the OpenAPI documents of both areas to the document of a server. */
export const joinDocuments = (areas: readonly AreaDocument[], url: string): DocumentPart => {
  const documents = areas.map(({ document }) => document)
  const [info] = documents.map((document) => partOf(document.info))
  return {
    openapi: documents[0]?.openapi,
    info: {
      ...info,
      title: 'Both APIs of a mock server',
      version: '1',
      summary: 'Recurring subscription payments, and sandbox mobile-money charges.',
      description: documents.map((document) => partOf(document.info).description).join('\n\n'),
    },
    servers: [{ url, description: 'This mock server' }],
    tags: documents.flatMap(({ tags }) => listIn(tags)),
    paths: Object.assign({}, ...areas.map(withPrefix)),
    webhooks: Object.assign({}, ...documents.map(({ webhooks }) => webhooks)),
    components: merged(documents.map(({ components }) => components)),
  }
}
