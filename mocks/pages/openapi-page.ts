import type { ResponseData } from '../http/message.ts'
import { documentOf, type Html, html } from './html.ts'
import { commonHeaders } from './layout.ts'
import type { DocumentPart } from './openapi.ts'
import { hashSource, palette } from './style.ts'

const style = `${palette}
body { margin: 0 auto; max-width: 60rem; padding: 1rem 1rem 4rem; background: var(--ground); color: var(--ink); font: 1rem/1.5 var(--font); overflow-wrap: anywhere; }
a { color: var(--accent); }
h1 { margin: 0.5rem 0; font-size: 1.5rem; line-height: 1.25; }
h2 { margin: 2.5rem 0 0.5rem; font-size: 1.25rem; }
h3 { margin: 0; font-size: 1rem; }
h4 { margin: 1rem 0 0.25rem; font-size: 0.9375rem; }
p, ul { margin: 0.375rem 0; }
nav ul { padding: 0; list-style: none; columns: 20rem; }
article { margin-top: 1rem; padding: 1rem; border: 1px solid var(--line); border-radius: 0.875rem; background: var(--card); }
.method { display: inline-block; min-width: 3.5rem; color: var(--accent); }
dl { margin: 0; }
dt { margin-top: 0.5rem; font-weight: 600; }
dt small, .quiet { color: var(--quiet); font-weight: 400; }
dd { margin: 0 0 0 1rem; }
code, pre { font: 0.875rem/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { margin: 0.25rem 0; padding: 0.5rem 0.75rem; border-radius: 0.5rem; background: var(--ground); white-space: pre-wrap; }
summary { cursor: pointer; }
`

const partOf = (value: unknown): DocumentPart => Object(value)
const partsIn = (value: unknown): readonly DocumentPart[] => (Array.isArray(value) ? value.map(partOf) : [])
const entriesOf = (value: unknown) =>
  Object.entries(partOf(value)).map(([name, part]) => [name, partOf(part)] as const)

/** Renders the code and the links in a text of a document. The texts contain no other Markdown than lists. */
const inline = (text: string): readonly (Html | string)[] =>
  text.split(/(`[^`]+`|\[[^\]]+\]\([^)\s]+\))/).map((piece) => {
    const [, label = '', address = ''] = /^\[([^\]]+)\]\((https:[^)]+)\)$/.exec(piece) ?? []
    if (address !== '') return html`<a href="${address}" rel="noreferrer">${label}</a>`
    return /^`[^`]+`$/.test(piece) ? html`<code>${piece.slice(1, -1)}</code>` : piece
  })

const paragraphs = (text: unknown): Html => {
  if (typeof text !== 'string') return html``
  return html`${text
    .split(/\n\n/)
    .map((block) =>
      block.startsWith('- ')
        ? html`<ul>${block.split('\n').map((line) => html`<li>${inline(line.slice(2))}</li>`)}</ul>`
        : html`<p>${inline(block)}</p>`,
    )}`
}

const nameIn = (reference: unknown): string => String(reference).split('/').at(-1) ?? ''

/** Describes the type of a schema in words. */
const typeOf = (schema: DocumentPart): Html => {
  if (schema.$ref !== undefined) {
    const name = nameIn(schema.$ref)
    return html`<a href="#schema-${name}">${name}</a>`
  }
  if (schema.items !== undefined) return html`list of ${typeOf(partOf(schema.items))}`
  const [known] = partsIn(schema.anyOf)
  if (known !== undefined) return html`string, such as ${JSON.stringify(known.enum)}`
  const { type = 'any JSON', format, pattern, enum: values } = schema
  const rule = values === undefined ? (format ?? pattern) : JSON.stringify(values)
  return html`${Array.isArray(type) ? type.join(' or ') : String(type)}${rule === undefined ? '' : `, ${rule}`}`
}

const example = (title: string, value: unknown): Html =>
  html`<details><summary>${title}</summary><pre>${JSON.stringify(value, null, 2)}</pre></details>`

/** Renders the schema and the examples of a body. */
const bodyOf = (content: unknown): Html => {
  const types = entriesOf(content)
  const [first] = types
  if (first === undefined) return html``
  const [, { schema, example: single, examples }] = first
  return html`<p class="quiet">${types.map(([type]) => type).join(' or ')}: ${typeOf(partOf(schema))}</p>
${single === undefined ? '' : example('Example', single)}
${entriesOf(examples).map(([name, { value }]) => example(`Example: ${name.replaceAll('_', ' ')}`, value))}`
}

const parameterOf = ({ name, in: place, required, schema, description }: DocumentPart): Html =>
  html`<dt><code>${String(name)}</code> <small>${String(place)}${required === true ? '' : ', optional'}: ${typeOf(partOf(schema))}</small></dt>
<dd>${paragraphs(description)}</dd>`

const responseOf = ([status, { description, headers, content }]: readonly [string, DocumentPart]): Html => {
  const names = Object.keys(partOf(headers))
  return html`<dt>${status}</dt>
<dd>${paragraphs(description)}
${names.length === 0 ? '' : html`<p class="quiet">Headers: ${names.join(', ')}</p>`}
${bodyOf(content)}</dd>`
}

const operationOf = (method: string, path: string, operation: DocumentPart): Html => {
  const { operationId, description, parameters, requestBody, responses, security } = operation
  const schemes = partsIn(security).flatMap((scheme) => Object.keys(scheme))
  const given = partsIn(parameters)
  return html`<article id="${String(operationId)}">
<h3><span class="method">${method.toUpperCase()}</span> <code>${path}</code></h3>
${paragraphs(description)}
${schemes.length === 0 ? '' : html`<p class="quiet">Authorization: Bearer (${schemes.join(', ')})</p>`}
${given.length === 0 ? '' : html`<h4>Parameters</h4><dl>${given.map(parameterOf)}</dl>`}
${requestBody === undefined ? '' : html`<h4>Request</h4>${paragraphs(partOf(requestBody).description)}${bodyOf(partOf(requestBody).content)}`}
<h4>Responses</h4><dl>${entriesOf(responses).map(responseOf)}</dl>
</article>`
}

const schemaOf = ([name, { description, properties, required }]: readonly [string, DocumentPart]): Html => {
  const needed = new Set(Array.isArray(required) ? required : [])
  return html`<article id="schema-${name}">
<h3>${name}</h3>
${paragraphs(description)}
<dl>${entriesOf(properties).map(
    ([field, schema]) =>
      html`<dt><code>${field}</code> <small>${typeOf(schema)}${needed.has(field) ? '' : ', optional'}</small></dt>
<dd>${paragraphs(schema.description)}</dd>`,
  )}</dl>
</article>`
}

/** Renders an OpenAPI document as a page without script. */
export const openApiPage = async (document: DocumentPart, jsonPath: string): Promise<ResponseData> => {
  const { info, paths, webhooks, components } = document
  const operations = [...entriesOf(paths), ...entriesOf(webhooks)].flatMap(([path, item]) =>
    entriesOf(item).map(([method, operation]) => ({ method, path, operation })),
  )
  const title = String(partOf(info).title)
  return {
    status: 200,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': `default-src 'none'; style-src ${await hashSource(style)}; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      ...commonHeaders,
    },
    body: documentOf({
      title,
      style,
      body: html`<main>
<h1>${title}</h1>
<p><a href="${jsonPath}">The OpenAPI document as JSON</a></p>
${paragraphs(partOf(info).description)}
<nav aria-label="Operations"><ul>${operations.map(
        ({ method, path, operation }) =>
          html`<li><a href="#${String(operation.operationId)}"><span class="method">${method.toUpperCase()}</span> ${path}</a></li>`,
      )}</ul></nav>
<h2>Operations</h2>
${operations.map(({ method, path, operation }) => operationOf(method, path, operation))}
<h2>Schemas</h2>
${entriesOf(partOf(components).schemas).map(schemaOf)}
</main>`,
    }),
  }
}
