import { type Html, type HtmlValue, html } from '../pages/html.ts'
import type { Mock } from '../types.ts'
import { type Cards, capitalized, instant, visuallyHidden } from './components.ts'
import type { Context, PanelPage } from './page.ts'
import { filters, type ListedItems, type ListName, type Page, urlWith } from './view.ts'

/** Rendered facts, by their labels. */
export type Values = Readonly<Record<string, HtmlValue>>

/** A kind of object. Its list and the page of one object show the same facts. */
export interface Kind<Item> {
  readonly noun: string
  /** Says how to get the first item. */
  readonly none: HtmlValue
  /** Returns always the same key for an item. */
  readonly keyOf: (item: Item) => string | number
  /** The first column of the list: the name of an item, with a link to its page if it has one. */
  readonly name: (item: Item) => HtmlValue
  readonly facts: Readonly<Record<string, (item: Item, context: Context) => HtmlValue>>
  /** The facts that the list shows. */
  readonly columns: readonly string[]
  /** The last column of the list: what can be done next. */
  readonly next?: (item: Item, context: Context) => HtmlValue
}

/** A kind whose objects have a page. */
export interface PagedKind<Item> extends Kind<Item> {
  readonly find: (mock: Mock, id: string) => Item | undefined
  /** What the title names: text from a client, or an identifier. */
  readonly subject: (item: Item) => string
  readonly cards: (item: Item, context: Context, values: Values) => Cards
}

/** Renders names and values. Omits a name without a value. */
export const factsOf = (values: Values): Html => {
  const known = Object.entries(values).filter(([, value]) => value !== false && String(value ?? '') !== '')
  return html`<dl>${known.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`
}

/** Returns the function that renders the page of one object, or returns `undefined` if the mock has no such object. */
export const pageOf =
  <Item>(kind: PagedKind<Item>) =>
  (context: Context, id: string): PanelPage | undefined => {
    const item = kind.find(context.mock, id)
    if (item === undefined) return undefined
    const values = Object.entries(kind.facts).map(([name, fact]) => [name, fact(item, context)])
    const data = kind.cards(item, context, Object.fromEntries(values))
    return { title: kind.noun, subject: kind.subject(item), data }
  }

/** Renders a text such as "1 to 10 of 25", and links to the newer page and the older page. */
const pages = (id: ListName, { view, query }: Context): Html | undefined => {
  const { items, total, skipped, newer, older } = view[id]
  if (items.length === total) return undefined
  const link = (word: string, cursor: number | undefined): Html =>
    html`<a href="${urlWith(query, id, cursor)}">${word}${visuallyHidden(id)}</a>`
  return html`<p class="pages" id="${id}-pages"><span class="quiet">${skipped + 1} to ${skipped + items.length} of ${total}</span>
${skipped > 0 && link('Newer', newer)}
${older !== undefined && link('Older', older)}</p>`
}

const filterForm = (id: ListName, query: URLSearchParams): Html => {
  const others = [...query].filter(([name]) => name !== id && !name.startsWith(`${id}.`))
  // A filter of the requests about an object selects some of them.
  const kept = [...others, ...[...query].filter(([name]) => name === `${id}.of`)]
  const option = (choice: string, chosen: string | null): Html =>
    html`<option${choice === chosen && html` selected`}>${choice}</option>`
  return html`<form method="get" role="search" aria-label="${id}" class="filter">
${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<input type="search" name="${id}.q" value="${query.get(`${id}.q`) ?? ''}" placeholder="Search" aria-label="Search ${id}">
${filters[id].map(({ name, label, choices }) => html`<select name="${id}.${name}" aria-label="${label}"><option value="">${label}: all</option>${choices.map((choice) => option(choice, query.get(`${id}.${name}`)))}</select>`)}
<button type="submit">Filter${visuallyHidden(id)}</button>
<a href="?${new URLSearchParams(others).toString()}">Show all${visuallyHidden(id)}</a>
</form>`
}

/** Returns the section with one page of a list, after the text `before`. Filters are shown as soon as there is something to filter. */
export const listOf = <Name extends ListName>(
  context: Context,
  id: Name,
  { noun, none, keyOf, name, facts, columns, next }: Kind<ListedItems[Name]>,
  before?: HtmlValue,
): Cards => {
  const { query } = context
  const lists: { readonly [Each in ListName]: Page<ListedItems[Each]> } = context.view
  const { items, total } = lists[id]
  const isFiltered = [...query.keys()].some((given) => given.startsWith(`${id}.`))
  const cells = Object.entries({
    [noun]: name,
    ...Object.fromEntries(columns.map((column) => [column, facts[column]])),
    ...(next && { Actions: next }),
  })
  const rowOf = (item: ListedItems[Name]): Html =>
    html`<tr id="${id.slice(0, -1)}-${keyOf(item)}">${cells.map(([heading, cell]) => html`<td data-heading="${heading}">${cell?.(item, context)}</td>`)}</tr>`
  const table = html`<table aria-labelledby="${id}-title">
<thead><tr>${cells.map(([heading]) => html`<th scope="col">${heading}</th>`)}</tr></thead>
<tbody>
${items.map(rowOf)}
</tbody>
</table>`
  const list = [
    before,
    (total > 0 || isFiltered) && filterForm(id, query),
    total > 0 ? table : html`<p class="quiet">${isFiltered ? 'Nothing matches.' : none}</p>`,
    pages(id, context),
  ]
  return { [capitalized(id)]: { count: total, list } }
}

/** An entry of a timeline. At the same time, entries keep the order in which they were given. */
export interface Entry {
  readonly at: number
  readonly kind: 'event' | 'request' | 'payment' | 'notification' | 'planned'
  readonly text: HtmlValue
}

/** Returns an entry, or none if it has no time. */
export const entry = (
  at: number | string | Date | undefined,
  kind: Entry['kind'],
  text: HtmlValue,
): readonly Entry[] => (at === undefined ? [] : [{ at: new Date(at).getTime(), kind, text }])

const MAX_ENTRIES = 200

/** Renders what has happened to an object and what is planned, newest first. */
export const timeline = (entries: readonly Entry[]): Html => {
  const sorted = entries.toSorted((one, other) => one.at - other.at).toReversed()
  const older = sorted.length - MAX_ENTRIES
  const line = ({ at, kind, text }: Entry): Html =>
    html`<li class="${kind}">${Number.isFinite(at) && instant(at)} <span class="what">${kind}</span> <div>${text}</div></li>`
  return html`<p class="quiet">Newest first, in UTC.</p>
<ol class="timeline">${sorted.slice(0, MAX_ENTRIES).map(line)}</ol>
${older > 0 && html`<p class="quiet">${older} older entries are not shown.</p>`}`
}
