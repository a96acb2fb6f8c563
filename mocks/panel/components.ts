import type { Html, HtmlValue } from '../pages/html.ts'
import { html } from '../pages/html.ts'
import type { ActionName } from './actions.ts'
import type { ListName, Places } from './paging.ts'
import { pageUrl } from './paging.ts'
import type { Listed } from './view.ts'

/** The color of a state. */
export type Tone = 'good' | 'waiting' | 'bad' | 'plain'

const TONES: Readonly<Record<string, Tone>> = {
  INITIALIZED: 'waiting',
  SUCCEEDED: 'good',
  FAILED: 'bad',
  EXPIRED: 'bad',
  SUCCEEDED_PAYMENT: 'good',
  FAILED_PAYMENT: 'bad',
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

// No identifier that the mock creates is longer.
const LONGEST_TEXT = 100

/** Truncates long text from a client. Long text would push other content out of view. */
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

/** Renders a form with one button. `of` is text after the label, for screen readers only. */
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

/** Renders a name and a value, or nothing if the value is `undefined`. */
export const fact = (name: string, value: HtmlValue): Html | undefined =>
  value === undefined ? undefined : html`<div><dt>${name}</dt><dd>${value}</dd></div>`

/** Renders a row of a list. The id of a row must never change. */
export const row = (id: string, heading: HtmlValue, facts: HtmlValue, actions?: HtmlValue): Html =>
  html`<li id="${id}">
<p class="heading">${heading}</p>
<dl>${facts}</dl>
${actions === undefined ? undefined : html`<div class="actions">${actions}</div>`}
</li>`

/** Renders the text "1 to 10 of 25", and links to the newer page and the older page. */
const pages = (id: ListName, title: string, list: Listed<unknown>, places: Places): Html | undefined => {
  const { items, total, skipped, newer, older } = list
  if (items.length === total) return undefined
  const link = (word: string, place: number | undefined): Html =>
    html`<a href="${pageUrl(places, id, place)}">${word}${heard(title)}</a>`
  return html`<span class="quiet">${skipped + 1} to ${skipped + items.length} of ${total}</span>
${skipped > 0 ? link('Newer', newer) : undefined}
${older === undefined ? undefined : link('Older', older)}`
}

/** Renders a section with one page of a list. */
export const listSection = <Item>(
  id: ListName,
  title: string,
  list: Listed<Item>,
  places: Places,
  render: (item: Item) => Html,
): Html =>
  card(
    id,
    html`${title} <span id="${id}-count" class="count" data-live>${list.total}</span>`,
    html`<ul id="${id}" class="rows" data-live>
${list.items.map(render)}
${list.total === 0 ? html`<li id="${id}-none" class="quiet">None yet.</li>` : undefined}
</ul>
<div id="${id}-pages" class="pages" data-live>${pages(id, title, list, places)}</div>`,
  )
