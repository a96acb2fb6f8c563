import type { Json } from '../../src/contract/fields.ts'
import type { ResponseData } from '../http/message.ts'
import { type Html, html } from '../pages/html.ts'
import { documentResponse } from '../pages/layout.ts'
import { base } from '../pages/style.ts'

/** The OpenAPI document of an area, and the path prefix of the area. */
interface AreaDocument {
  readonly document: Json
  /** The prefix of the paths in the document. */
  readonly standardPrefix: string
  /** The prefix of the mock's paths (row 49). */
  readonly prefix: string
}

const partOf = (value: unknown): Json => Object(value)
const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const entriesOf = (value: unknown) =>
  Object.entries(partOf(value)).map(([name, part]) => [name, partOf(part)] as const)

const pathsOf = ({ document, standardPrefix, prefix }: AreaDocument): Json =>
  Object.fromEntries(
    entriesOf(document.paths).map(([path, item]) => [
      path.startsWith(`${standardPrefix}/`) ? prefix + path.slice(standardPrefix.length) : path,
      item,
    ]),
  )

/** Joins the OpenAPI documents of both areas into the document of a server. No component belongs to both areas. */
export const joinDocuments = (areas: readonly AreaDocument[], url: string): Json => {
  const documents = areas.map(({ document }) => document)
  const components = documents.map((document) => partOf(document.components))
  const types = new Set(components.flatMap((one) => Object.keys(one)))
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
    paths: Object.assign({}, ...areas.map(pathsOf)),
    webhooks: Object.assign({}, ...documents.map(({ webhooks }) => webhooks)),
    components: Object.fromEntries(
      [...types].map((type) => [type, Object.assign({}, ...components.map((one) => one[type]))]),
    ),
  }
}

const style = `${base}
body { overflow-wrap: anywhere; }
main { max-width: 60rem; margin: 0 auto; border: 0; background: none; }
h2 { margin-top: 2.5rem; font-size: 1.25rem; }
h3 { margin: 0; font-size: 1rem; }
h4 { margin: 1rem 0 0.25rem; font-size: 0.9375rem; }
nav ul { padding: 0; list-style: none; columns: 20rem; }
article { margin-top: 1rem; padding: 1rem; }
.method { display: inline-block; min-width: 3.5rem; color: var(--accent); }
dt { margin-top: 0.5rem; color: inherit; font-weight: 600; }
dt small { color: var(--quiet); font-weight: 400; }
dd { margin-left: 1rem; }
pre { white-space: pre-wrap; }
`

/** Renders the code and the links in a text of a document. The texts contain no other Markdown than lists. */
const inline = (text: string): readonly (Html | string)[] =>
  text.split(/(`[^`]+`|\[[^\]]+\]\([^)\s]+\))/).map((piece) => {
    const [, label = '', address = ''] = /^\[([^\]]+)\]\((https:[^)]+)\)$/.exec(piece) ?? []
    if (address !== '') return html`<a href="${address}" rel="noreferrer">${label}</a>`
    return /^`[^`]+`$/.test(piece) ? html`<code>${piece.slice(1, -1)}</code>` : piece
  })

const paragraphs = (text: unknown = ''): readonly Html[] =>
  String(text)
    .split(/\n\n/)
    .filter(Boolean)
    .map((block) =>
      block.startsWith('- ')
        ? html`<ul>${block.split('\n').map((line) => html`<li>${inline(line.slice(2))}</li>`)}</ul>`
        : html`<p>${inline(block)}</p>`,
    )

/** Describes the type of a schema in words. */
const typeOf = (value: unknown): Html => {
  const { $ref, items, anyOf, type = 'any JSON', format, pattern, enum: values } = partOf(value)
  const name = String($ref).split('/').at(-1)
  if ($ref !== undefined) return html`<a href="#schema-${name}">${name}</a>`
  if (items !== undefined) return html`list of ${typeOf(items)}`
  if (anyOf !== undefined) return html`string, such as ${JSON.stringify(partOf(listIn(anyOf)[0]).enum)}`
  const rule = values === undefined ? (format ?? pattern) : JSON.stringify(values)
  return html`${[type].flat().join(' or ')}${rule !== undefined && `, ${rule}`}`
}

const example = (title: string, value: unknown): Html =>
  html`<details><summary>${title}</summary><pre>${JSON.stringify(value, null, 2)}</pre></details>`

/** Renders the schema and the examples of a body. */
const bodyOf = (content: unknown): Html | undefined => {
  const types = entriesOf(content)
  const [first] = types
  if (first === undefined) return undefined
  const [, { schema, example: single, examples }] = first
  return html`<p class="quiet">${types.map(([type]) => type).join(' or ')}: ${typeOf(schema)}</p>
${single !== undefined && example('Example', single)}
${entriesOf(examples).map(([name, { value }]) => example(`Example: ${name.replaceAll('_', ' ')}`, value))}`
}

const parameterOf = (given: unknown): Html => {
  const { name, in: place, required, schema, description } = partOf(given)
  return html`<dt><code>${String(name)}</code> <small>${String(place)}${required !== true && ', optional'}: ${typeOf(schema)}</small></dt>
<dd>${paragraphs(description)}</dd>`
}

const responseOf = ([status, { description, headers, content }]: readonly [string, Json]): Html => {
  const names = Object.keys(partOf(headers)).join(', ')
  return html`<dt>${status}</dt>
<dd>${paragraphs(description)}
${names && html`<p class="quiet">Headers: ${names}</p>`}
${bodyOf(content)}</dd>`
}

const operationOf = ({ method, path, operation }: ReturnType<typeof operationsIn>[number]): Html => {
  const { operationId, description, parameters, requestBody, responses, security } = operation
  const schemes = listIn(security).flatMap((scheme) => Object.keys(partOf(scheme)))
  const given = listIn(parameters)
  const body = partOf(requestBody)
  return html`<article id="${String(operationId)}">
<h3><span class="method">${method}</span> <code>${path}</code></h3>
${paragraphs(description)}
${schemes.length > 0 && html`<p class="quiet">Authorization: Bearer (${schemes.join(', ')})</p>`}
${given.length > 0 && html`<h4>Parameters</h4><dl>${given.map(parameterOf)}</dl>`}
${requestBody !== undefined && html`<h4>Request</h4>${paragraphs(body.description)}${bodyOf(body.content)}`}
<h4>Responses</h4><dl>${entriesOf(responses).map(responseOf)}</dl>
</article>`
}

const schemaOf = ([name, { description, properties, required }]: readonly [string, Json]): Html => {
  const field = ([property, schema]: readonly [string, Json]): Html =>
    html`<dt><code>${property}</code> <small>${typeOf(schema)}${!listIn(required).includes(property) && ', optional'}</small></dt>
<dd>${paragraphs(schema.description)}</dd>`
  return html`<article id="schema-${name}">
<h3>${name}</h3>
${paragraphs(description)}
<dl>${entriesOf(properties).map(field)}</dl>
</article>`
}

const operationsIn = ({ paths, webhooks }: Json) =>
  [...entriesOf(paths), ...entriesOf(webhooks)].flatMap(([path, item]) =>
    entriesOf(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )

/** Renders an OpenAPI document as a page without script. */
export const openApiPage = (document: Json, jsonPath: string): Promise<ResponseData> => {
  const { title, description } = partOf(document.info)
  const operations = operationsIn(document)
  const links = operations.map(
    ({ method, path, operation: { operationId } }) =>
      html`<li><a href="#${String(operationId)}"><span class="method">${method}</span> ${path}</a></li>`,
  )
  const body = html`<main>
<h1>${String(title)}</h1>
<p><a href="${jsonPath}">The OpenAPI document as JSON</a></p>
${paragraphs(description)}
<nav aria-label="Operations"><ul>${links}</ul></nav>
<h2>Operations</h2>
${operations.map(operationOf)}
<h2>Schemas</h2>
${entriesOf(partOf(document.components).schemas).map(schemaOf)}
</main>`
  return documentResponse(200, { title: String(title), style, body }, "'none'")
}
