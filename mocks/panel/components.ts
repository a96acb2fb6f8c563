import { type Html, type HtmlValue, html } from '../pages/html.ts'
import type { ActionName } from './actions.ts'
import { type ListName, type PanelQuery, urlWith } from './paging.ts'
import { filters, type Listed } from './view.ts'

/** The color of a state. */
export type Tone = 'good' | 'waiting' | 'bad' | 'plain'

const TONES: Readonly<Record<string, Tone>> = {
  INITIALIZED: 'waiting',
  SUCCEEDED: 'good',
  FAILED: 'bad',
  EXPIRED: 'bad',
  SUCCEEDED_PAYMENT: 'good',
  FAILED_PAYMENT: 'bad',
  CANCELLED: 'bad',
  ACTIVE: 'good',
  PROCESSING: 'waiting',
  delivered: 'good',
  paid: 'good',
  reversed: 'waiting',
  pending_confirmation: 'waiting',
  pending_retry: 'waiting',
  succeeded: 'good',
  failed: 'bad',
  expired: 'bad',
}

/** Renders a state as a colored label. */
export const pill = (text: string | number, tone: Tone = TONES[text] ?? 'plain'): Html =>
  html`<span class="pill ${tone}">${text}</span>`

/** Renders text for screen readers only. */
export const heard = (text: string): Html => html`<span class="heard"> ${text}</span>`

// The mock's own identifiers are shorter than this, so they are never truncated.
const LONGEST_TEXT = 100

/** Truncates long text from a client, because long text would push other content out of view. */
export const brief = (text: string | number, longest = LONGEST_TEXT): string => {
  const characters = [...String(text)]
  return characters.length > longest ? `${characters.slice(0, longest).join('')}…` : String(text)
}

/** Renders text from a client, which may be long or written from right to left. */
export const foreign = (text: string | number): Html => html`<bdi>${brief(text)}</bdi>`

/** Renders a point in time in UTC, without fractions of a second. */
export const instant = (iso: string): Html =>
  html`<time datetime="${iso}">${iso.slice(0, 19).replace('T', ' ')}</time>`

/** Renders the form of one action. The browser posts the form to the page's URL and shows the same page. */
export const actionForm = (
  action: ActionName,
  fields: Readonly<Record<string, string | number>>,
  content: HtmlValue,
  kind: 'inline' | 'fields' = 'fields',
): Html => html`<form method="post" class="${kind}">
<input type="hidden" name="action" value="${action}">
${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${content}
</form>`

/** Renders a form with one button. `of` is appended to the button's label, but only for screen readers. */
export const actionButton = (
  action: ActionName,
  label: string,
  fields: Readonly<Record<string, string | number>> = {},
  of?: string | number,
): Html => {
  const detail = of === undefined ? undefined : heard(brief(of))
  return actionForm(action, fields, html`<button type="submit">${label}${detail}</button>`, 'inline')
}

/** Renders a section with a heading, followed by `content`. */
export const card = (id: string, title: HtmlValue, content: HtmlValue): Html =>
  html`<section aria-labelledby="${id}-title">
<h2 id="${id}-title" tabindex="-1">${title}</h2>
${content}
</section>`

/** The columns of a table: the heading of each column, and the function that renders the cell of an item. */
type Columns<Item> = Readonly<Record<string, (item: Item) => HtmlValue>>

/** Renders JSON with a heading, or nothing if the value is `undefined`. */
export const json = (name: HtmlValue, value: unknown): Html | undefined =>
  value === undefined
    ? undefined
    : html`<p class="quiet">${name}</p><pre>${typeof value === 'string' ? value : JSON.stringify(value, null, 2)}</pre>`

/** Renders a text such as "1 to 10 of 25", and links to the newer page and the older page. */
const pages = (id: ListName, title: string, list: Listed<unknown>, query: PanelQuery): Html | undefined => {
  const { items, total, skipped, newer, older } = list
  if (items.length === total) return undefined
  const link = (word: string, place: number | undefined): Html =>
    html`<a href="${urlWith(query, id, place, id)}">${word}${heard(title)}</a>`
  return html`<span class="quiet">${skipped + 1} to ${skipped + items.length} of ${total}</span>
${skipped > 0 ? link('Newer', newer) : undefined}
${older === undefined ? undefined : link('Older', older)}`
}

/** Renders the form that filters a list. The browser sends the fields in the query of the page's URL. */
const filterForm = (id: ListName, title: string, query: PanelQuery): Html => {
  const own = [id, `${id}.q`, `${id}.is`]
  const state = query.get(`${id}.is`)
  return html`<form method="get" action="#${id}-title" role="search" aria-label="${title}" class="inline">
${[...query].flatMap(([name, value]) => (own.includes(name) ? [] : html`<input type="hidden" name="${name}" value="${value}">`))}
<input type="search" name="${id}.q" value="${query.get(`${id}.q`) ?? ''}" placeholder="Search" aria-label="Search ${title}">
<select name="${id}.is" aria-label="Filter ${title}"><option value="">all</option>${filters[id].states.map(
    (one) => (one === state ? html`<option selected>${one}</option>` : html`<option>${one}</option>`),
  )}</select>
<button type="submit">Filter${heard(title)}</button>
</form>`
}

/** Renders a section with one page of a list, as a table. `keyOf` must always return the same key for an item. */
export const listSection = <Item>(
  id: ListName,
  list: Listed<Item>,
  query: PanelQuery,
  keyOf: (item: Item) => string | number,
  columns: Columns<Item>,
): Html => {
  const title = id.charAt(0).toUpperCase() + id.slice(1)
  const headings = Object.keys(columns)
  const none = query.has(`${id}.q`) || query.has(`${id}.is`) ? 'Nothing matches.' : 'None yet.'
  const row = (item: Item): Html => html`<tr id="${id.slice(0, -1)}-${keyOf(item)}">
${Object.entries(columns).map(([heading, cell]) => html`<td data-heading="${heading}">${cell(item)}</td>`)}
</tr>`
  return card(
    id,
    html`${title} <span id="${id}-count" class="count" data-live>${list.total}</span>`,
    html`${filterForm(id, title, query)}
<table aria-labelledby="${id}-title">
<thead><tr>${headings.map((heading) => html`<th scope="col">${heading}</th>`)}</tr></thead>
<tbody id="${id}" data-live>
${list.items.map(row)}
${list.total === 0 ? html`<tr id="${id}-none"><td colspan="${headings.length}" class="quiet">${none}</td></tr>` : undefined}
</tbody>
</table>
<div id="${id}-pages" class="pages" data-live>${pages(id, title, list, query)}</div>`,
  )
}
