import { type Html, type HtmlValue, html } from '../pages/html.ts'
import { filters, type ListName, type Page, type PanelQuery, urlWith } from './view.ts'

/** The color of a state. */
export type Tone = 'good' | 'waiting' | 'bad' | 'plain'

const TONES: Readonly<Record<Exclude<Tone, 'plain'>, RegExp>> = {
  good: /^(SUCCEEDED(_PAYMENT)?|ACTIVE|PROCESSED|delivered|paid|succeeded|up)$/,
  waiting: /^(INITIALIZED|PENDING|PROCESSING|reversed|pending_.*)$/,
  bad: /^(FAILED(_PAYMENT)?|EXPIRED|CANCELLED|VOID|failed|expired|down|no response)$/,
}

const toneOf = (text: string | number): Tone => {
  if (typeof text === 'number') return text < 300 ? 'good' : text < 400 ? 'plain' : 'bad'
  return (['good', 'waiting', 'bad'] as const).find((tone) => TONES[tone].test(text)) ?? 'plain'
}

/** Renders a state or a status as a colored label. */
export const badge = (text: string | number, tone: Tone = toneOf(text)): Html =>
  html`<span class="badge ${tone}">${text}</span>`

/** Renders text for screen readers only. */
export const visuallyHidden = (text: string): Html => html`<span class="visually-hidden"> ${text}</span>`

// The mock's own identifiers are shorter than this, so they are never truncated.
const MAX_TEXT_CHARACTERS = 100

/** Truncates long text from a client, because long text would push other content out of view. */
export const truncate = (text: string | number, longest = MAX_TEXT_CHARACTERS): string => {
  const characters = [...String(text)]
  return characters.length > longest ? `${characters.slice(0, longest).join('')}…` : String(text)
}

/** Lets a browser break a long technical word, such as `subscriptions.status`, after its dots, slashes and underscores. */
export const wrappable = (text: string): readonly HtmlValue[] =>
  text
    .split(/(?<=[._/?&=:-])(?=[a-z])/i)
    .flatMap((part, index) => (index === 0 ? [part] : [html`<wbr>`, part]))

/** Renders text from a client, which may be long or written from right to left. A longer word is cut with "…". */
export const isolate = (text: string | number, longest = MAX_TEXT_CHARACTERS): Html =>
  html`<bdi>${wrappable(truncate(text, longest))}</bdi>`

const shortened = (text: string): string => {
  const characters = [...text]
  if (characters.length <= 17) return text
  return `${characters.slice(0, 9).join('')}…${characters.slice(-5).join('')}`
}

/** Renders an identifier, which is shortened in the middle, with a button that copies it. */
export const identifier = (text: string, name: string): Html =>
  html`<span class="id"><bdi title="${text}">${shortened(text)}</bdi> ${copyButton(text, name)}</span>`

/** Renders a link to the page of an object, or nothing if the object has no identifier. */
export const linkTo = (section: string, id = '', text = id, of?: string): Html | undefined =>
  id === ''
    ? undefined
    : html`<a class="link" href="/_mock/${section}/${encodeURIComponent(id)}"><bdi title="${text}">${shortened(text)}</bdi>${of && visuallyHidden(of)}</a>`

/** Renders a button that copies a text. It is visible only with a script. */
export const copyButton = (text: string, name: string, label = 'Copy'): Html =>
  html`<button type="button" class="copy" data-copy="${text}">${label}${visuallyHidden(name)}</button>`

/** Renders a point in time in UTC, without fractions of a second. */
export const instant = (iso: string): Html =>
  html`<time datetime="${iso}">${iso.slice(0, 19).replace('T', ' ')}</time>`

/** Renders a section with a heading. The script replaces the content when it changes. */
export const card = (title: string, content: HtmlValue): Html => {
  const id = title.toLowerCase().replaceAll(' ', '-')
  return html`<section aria-labelledby="${id}-title">
<h2 id="${id}-title" tabindex="-1">${title}</h2>
<div id="${id}" data-live>
${content}
</div>
</section>`
}

/** Renders names and values. Omits a name whose value is undefined. */
export const facts = (values: Readonly<Record<string, HtmlValue>>): Html =>
  html`<dl>${Object.entries(values).map(([name, value]) => (value === undefined ? undefined : html`<div><dt>${name}</dt><dd>${value}</dd></div>`))}</dl>`

/** Renders JSON or text with a heading, or nothing if the value is `undefined`. */
export const json = (name: string, value: unknown): Html | undefined => {
  if (value === undefined) return undefined
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  return html`<p class="quiet">${name}</p><pre tabindex="0" role="group" aria-label="${name}">${text}</pre>`
}

/** Renders a text such as "1 to 10 of 25", and links to the newer page and the older page. */
const pages = (id: ListName, list: Page<unknown>, query: PanelQuery): Html | undefined => {
  const { items, total, skipped, newer, older } = list
  if (items.length === total) return undefined
  const link = (word: string, cursor: number | undefined): Html =>
    html`<a href="${urlWith(query, id, cursor)}">${word}${visuallyHidden(id)}</a>`
  return html`<p class="pages" id="${id}-pages"><span class="quiet">${skipped + 1} to ${skipped + items.length} of ${total}</span>
${skipped > 0 ? link('Newer', newer) : undefined}
${older === undefined ? undefined : link('Older', older)}</p>`
}

const filterForm = (id: ListName, query: PanelQuery): Html => {
  const names = filters[id].map(({ name }) => `${id}.${name}`)
  const option = (choice: string, chosen: string | null): Html =>
    choice === chosen ? html`<option selected>${choice}</option>` : html`<option>${choice}</option>`
  return html`<form method="get" role="search" aria-label="${id}" class="filter">
${[...query].flatMap(([name, value]) => ([id, `${id}.q`, ...names].includes(name) ? [] : html`<input type="hidden" name="${name}" value="${value}">`))}
<input type="search" name="${id}.q" value="${query.get(`${id}.q`) ?? ''}" placeholder="Search" aria-label="Search ${id}">
${filters[id].map(({ name, label, choices }) => html`<select name="${id}.${name}" aria-label="${label}"><option value="">${label}: all</option>${choices.map((choice) => option(choice, query.get(`${id}.${name}`)))}</select>`)}
<button type="submit">Filter${visuallyHidden(id)}</button>
<a href="?">Show all</a>
</form>`
}

/** A list as a table: its columns, each with a function that renders the cell of an item. */
export interface Table<Item> {
  readonly id: ListName
  /** Says how to get the first item. */
  readonly none: HtmlValue
  /** Returns always the same key for an item. */
  readonly keyOf: (item: Item) => string | number
  readonly columns: Readonly<Record<string, (item: Item) => HtmlValue>>
}

/** Renders a section with one page of a list. Filters are shown as soon as there is something to filter. */
export const listTable = <Item>(list: Page<Item>, query: PanelQuery, table: Table<Item>): Html => {
  const { id, none, keyOf, columns } = table
  const title = id.charAt(0).toUpperCase() + id.slice(1)
  const isFiltered = [...query.keys()].some((name) => name.startsWith(`${id}.`))
  const cells = Object.entries(columns)
  const content =
    list.total === 0
      ? html`<p id="${id}-none" class="quiet">${isFiltered ? 'Nothing matches.' : none}</p>`
      : html`<table aria-labelledby="${id}-title">
<thead><tr>${cells.map(([heading]) => html`<th scope="col">${heading}</th>`)}</tr></thead>
<tbody>
${list.items.map((item) => html`<tr id="${id.slice(0, -1)}-${keyOf(item)}">${cells.map(([heading, cell]) => html`<td data-heading="${heading}">${cell(item)}</td>`)}</tr>`)}
</tbody>
</table>`
  return html`<section aria-labelledby="${id}-title">
<h2 id="${id}-title" tabindex="-1">${title} <span id="${id}-count" class="count" data-live>${list.total}</span></h2>
${list.total > 0 || isFiltered ? filterForm(id, query) : undefined}
<div id="${id}" data-live>
${content}
${pages(id, list, query)}
</div>
</section>`
}
