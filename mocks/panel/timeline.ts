import type { ListedNotification } from '../delivery/outbox.ts'
import type { LoggedRequest } from '../http/request-log.ts'
import { type Html, type HtmlValue, html } from '../pages/html.ts'
import type { Mock } from '../types.ts'
import { badge, card, instant, isolate, visuallyHidden } from './components.ts'
import type { RenderForm } from './form.ts'
import { deliveryState, type PanelQuery, type PanelView } from './view.ts'

/** What a page is rendered from. */
export interface Context {
  readonly mock: Mock
  readonly view: PanelView
  readonly query: PanelQuery
  readonly form: RenderForm
  /** The base URL of the server. */
  readonly base: string
}

/** A page of the panel: the data first, and beside it, or below it on a phone, the controls. */
export interface PanelPage {
  readonly title: string
  /** The identifier of the page's object, which the title shows in full. */
  readonly subject?: string
  readonly data: HtmlValue
  readonly controls?: HtmlValue
}

/** An entry of a timeline. At the same time, entries keep the order in which they were given. */
export interface Entry {
  readonly at: number
  readonly kind: 'event' | 'request' | 'payment' | 'notification' | 'planned'
  readonly text: HtmlValue
}

/** Renders a request in one line: its status, its operation with a link, and the fault or the reason. */
export const requestLine = (one: LoggedRequest): Html =>
  html`${badge(one.status ?? 'no response')} <a href="/_mock/requests/${one.number}">${isolate(one.operation ?? one.path, 60)}</a> ${one.fault && badge(`fault ${one.fault}`, 'bad')} <span class="quiet">${isolate(one.decision.replaceAll('_', ' '))}</span>`

export const requestEntry = (one: LoggedRequest): Entry => ({
  at: one.at.getTime(),
  kind: 'request',
  text: requestLine(one),
})

/** Renders the link to the page of a notification. */
export const messageLink = ({ notificationId, type, status }: ListedNotification): Html =>
  html`<a href="/_mock/notifications/${encodeURIComponent(notificationId)}">${isolate(type)} ${isolate(status)}${visuallyHidden(notificationId)}</a>`

export const notificationEntry = (one: ListedNotification, form: RenderForm): Entry => ({
  at: Number(one.timestamp) * 1_000,
  kind: 'notification',
  text: html`<span>${badge(deliveryState(one))} ${messageLink(one)}</span> ${form('resend', 'Resend', { given: { notificationId: one.notificationId }, of: one.notificationId })}`,
})

/** Renders the link to the page on which the payer decides. */
export const payersPage = (path: string): Html =>
  html`<a href="${path}" target="_blank" rel="noopener">Payer’s page${visuallyHidden('in a new tab')}</a>`

/** Says how to get the first subscription or charge. */
export const howToGet = (method: 'subscribe' | 'charge'): Html =>
  html`None yet. Create one here, or let your shop call <code>${method}</code>: see <a href="/_mock/connect">Connect</a>.`

/** Renders the form that creates a subscription or a charge. */
export const createCard = (
  action: 'subscribe' | 'charge',
  first: readonly string[],
  form: RenderForm,
): Html =>
  card(
    `Create a ${action === 'charge' ? 'charge' : 'subscription'}`,
    html`<p class="quiet">Calls the API as a shop does. Empty fields have working defaults.</p>
${form(action, 'Create', { first })}`,
  )

const MAX_ENTRIES = 200

/** Renders what has happened to an object and what is planned, newest first. */
export const timeline = (entries: readonly Entry[]): Html => {
  const sorted = entries.toSorted((one, other) => one.at - other.at).toReversed()
  const shown = sorted.slice(0, MAX_ENTRIES)
  return card(
    'Timeline',
    html`<p class="quiet">Newest first, in UTC.</p>
<ol class="timeline">${shown.map(({ at, kind, text }) => html`<li class="${kind}">${Number.isFinite(at) ? instant(new Date(at).toISOString()) : undefined} <span class="what">${kind}</span> <div>${text}</div></li>`)}</ol>
${sorted.length > shown.length ? html`<p class="quiet">${sorted.length - shown.length} older entries are not shown.</p>` : undefined}`,
  )
}
