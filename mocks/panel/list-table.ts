import { type Html, type HtmlValue, html } from '../pages/html.ts'
import { capitalized, card, visuallyHidden } from './components.ts'
import type { Context } from './page.ts'
import { filters, type ListedItems, type ListName, type Page, urlWith } from './view.ts'

interface ListContext extends Pick<Context, 'query'> {
  readonly view: { readonly [Name in ListName]: Page<ListedItems[Name]> }
}

/** Renders a text such as "1 to 10 of 25", and links to the newer page and the older page. */
const pages = (id: ListName, { view, query }: ListContext): Html | undefined => {
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
  const option = (choice: string, chosen: string | null): Html =>
    html`<option${choice === chosen && html` selected`}>${choice}</option>`
  return html`<form method="get" role="search" aria-label="${id}" class="filter">
${others.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<input type="search" name="${id}.q" value="${query.get(`${id}.q`) ?? ''}" placeholder="Search" aria-label="Search ${id}">
${filters[id].map(({ name, label, choices }) => html`<select name="${id}.${name}" aria-label="${label}"><option value="">${label}: all</option>${choices.map((choice) => option(choice, query.get(`${id}.${name}`)))}</select>`)}
<button type="submit">Filter${visuallyHidden(id)}</button>
<a href="?">Show all</a>
</form>`
}

/** A list as a table: its columns, each with a function that renders the cell of an item. */
interface Table<Item> {
  /** Says how to get the first item. */
  readonly none: HtmlValue
  /** Returns always the same key for an item. */
  readonly keyOf: (item: Item) => string | number
  readonly columns: Readonly<Record<string, (item: Item) => HtmlValue>>
}

/** Renders a section with one page of a list. Filters are shown as soon as there is something to filter. */
export const listTable = <Name extends ListName>(
  context: ListContext,
  id: Name,
  { none, keyOf, columns }: Table<ListedItems[Name]>,
): Html => {
  const { query } = context
  const { items, total } = context.view[id]
  const isFiltered = [...query.keys()].some((name) => name.startsWith(`${id}.`))
  const cells = Object.entries(columns)
  const rowOf = (item: ListedItems[Name]): Html =>
    html`<tr id="${id.slice(0, -1)}-${keyOf(item)}">${cells.map(([heading, cell]) => html`<td data-heading="${heading}">${cell(item)}</td>`)}</tr>`
  const table = html`<table aria-labelledby="${id}-title">
<thead><tr>${cells.map(([heading]) => html`<th scope="col">${heading}</th>`)}</tr></thead>
<tbody>
${items.map(rowOf)}
</tbody>
</table>`
  return card(
    capitalized(id),
    [
      (total > 0 || isFiltered) && filterForm(id, query),
      total > 0 ? table : html`<p class="quiet">${isFiltered ? 'Nothing matches.' : none}</p>`,
      pages(id, context),
    ],
    total,
  )
}
