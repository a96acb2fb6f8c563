import type { Html, HtmlValue } from '../pages/html.ts'
import { html } from '../pages/html.ts'
import type { ActionName } from './actions.ts'
import type { ListName, Places } from './paging.ts'
import { turnedTo } from './paging.ts'
import type { Listed } from './view.ts'

/** How a state looks: it went well, it waits, it went wrong, or nothing of that. */
export type Tone = 'good' | 'waiting' | 'bad' | 'plain'

const TONES: Readonly<Record<string, Tone>> = {
  INITIALIZED: 'waiting',
  SUCCEEDED: 'good',
  FAILED: 'bad',
  EXPIRED: 'bad',
  CANCELLED: 'plain',
  SUCCEEDED_PAYMENT: 'good',
  FAILED_PAYMENT: 'bad',
  pending_confirmation: 'waiting',
  pending_retry: 'waiting',
  succeeded: 'good',
  failed: 'bad',
  expired: 'bad',
}

/** A state as a colored word. The word itself tells it: the color only helps. */
export const pill = (text: string | number, tone: Tone = TONES[text] ?? 'plain'): Html =>
  html`<span class="pill ${tone}">${text}</span>`

/** A word that a listener hears and a reader does not need. */
const heard = (text: string): Html => html`<span class="heard"> ${text}</span>`

/** The longest text from outside that is shown whole; no identifier that the mock makes is longer. */
const LONGEST_TEXT = 100

/** A text from outside, cut to a length that leaves what stands beside it in sight. */
export const brief = (text: string | number, longest = LONGEST_TEXT): string => {
  const characters = [...String(text)]
  return characters.length > longest ? `${characters.slice(0, longest).join('')}…` : String(text)
}

/** A text from outside, which may be long, and be written in either direction. */
export const foreign = (text: string | number): Html => html`<bdi>${brief(text)}</bdi>`

/** A point in time, to the second, in UTC. */
export const instant = (iso: string): Html =>
  html`<time datetime="${iso}">${iso.slice(0, 19).replace('T', ' ')}</time>`

/** A form that does one thing. It is sent to the page's own address, so that the same page follows. */
export const actionForm = (
  action: ActionName,
  fields: Readonly<Record<string, string | number>>,
  content: HtmlValue,
  kind = 'inline',
): Html => html`<form method="post" class="${kind}">
<input type="hidden" name="action" value="${action}">
${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${content}
</form>`

/** A form of one button. `of` says to a listener what the button is about. */
export const actionButton = (
  action: ActionName,
  label: string,
  fields: Readonly<Record<string, string | number>> = {},
  of?: string | number,
): Html =>
  actionForm(
    action,
    fields,
    html`<button type="submit">${label}${of === undefined ? undefined : heard(brief(of))}</button>`,
  )

/** A fact of a row. */
export const fact = (name: string, value: HtmlValue): Html =>
  html`<div><dt>${name}</dt><dd>${value}</dd></div>`

/** A row of a list. The identifier stays the same when the page is made anew. */
export const row = (id: string, heading: HtmlValue, facts: HtmlValue, actions?: HtmlValue): Html =>
  html`<li id="${id}">
<p class="heading">${heading}</p>
<dl>${facts}</dl>
${actions === undefined ? undefined : html`<div class="actions">${actions}</div>`}
</li>`

/** Where the items of a page stand in their list, and the ways to the pages beside it. */
const pages = (id: ListName, title: string, list: Listed<unknown>, places: Places): Html | undefined => {
  if (list.items.length === list.total) return undefined
  const newer = html`<a href="${turnedTo(places, id, list.newer)}">Newer<span class="heard"> ${title}</span></a>`
  const older = html`<a href="${turnedTo(places, id, list.older)}">Older<span class="heard"> ${title}</span></a>`
  return html`<span class="quiet">${list.skipped + 1} to ${list.skipped + list.items.length} of ${list.total}</span>
${list.skipped > 0 ? newer : undefined}
${list.older === undefined ? undefined : older}`
}

/** A part of the page that shows a page of a list. */
export const listSection = <Item>(
  id: ListName,
  title: string,
  list: Listed<Item>,
  places: Places,
  shown: (item: Item) => Html,
): Html =>
  html`<section aria-labelledby="${id}-title">
<h2 id="${id}-title" tabindex="-1">${title} <span id="${id}-count" class="count" data-live>${list.total}</span></h2>
<ul id="${id}" class="rows" data-live data-rows>
${list.items.map(shown)}
${list.total === 0 ? html`<li id="${id}-none" class="quiet">None yet.</li>` : undefined}
</ul>
<div id="${id}-pages" class="pages" data-live>${pages(id, title, list, places)}</div>
</section>`
