import type { ListedNotification } from '../delivery/types.ts'
import type { LoggedRequest } from '../http/request-log.ts'
import { type Html, type HtmlValue, html } from '../pages/html.ts'
import type { Mock } from '../types.ts'
import { badge, card, instant, isolate, visuallyHidden } from './components.ts'
import type { RenderForm } from './form.ts'
import { deliveryState, requestsOf } from './view.ts'

/** An entry of a timeline. At the same time, entries keep the order in which they were given. */
export interface Entry {
  readonly at: number
  readonly kind: 'event' | 'request' | 'payment' | 'notification' | 'planned'
  readonly text: HtmlValue
}

/** Returns an entry, or none if it has no time. */
export const entry = (
  at: number | string | undefined,
  kind: Entry['kind'],
  text: HtmlValue,
): readonly Entry[] => (at === undefined ? [] : [{ at: new Date(at).getTime(), kind, text }])

/** Renders a request in one line: its status, its operation with a link, the fault and the decision. */
export const requestLine = ({ number, status, operation, path, fault, decision }: LoggedRequest): Html =>
  html`${badge(status ?? 'no response')} <a href="/_mock/requests/${number}">${isolate(operation ?? path, 60)}</a> ${fault && badge(`fault ${fault}`)} <span class="quiet">${isolate(decision.replaceAll('_', ' '))}</span>`

export const requestEntries = (mock: Mock, id: string): readonly Entry[] =>
  requestsOf(mock, id).flatMap((one) => entry(one.at.getTime(), 'request', requestLine(one)))

export const messageLink = ({ notificationId, type, status }: ListedNotification): Html =>
  html`<a href="/_mock/notifications/${encodeURIComponent(notificationId)}">${isolate(type)} ${isolate(status)}${visuallyHidden(notificationId)}</a>`

export const messageEntry = (one: ListedNotification, form: RenderForm): readonly Entry[] => {
  const { notificationId, timestamp } = one
  const resend = form('resend', 'Resend', { given: { notificationId }, of: notificationId })
  const text = html`<span>${badge(deliveryState(one))} ${messageLink(one)}</span> ${resend}`
  return entry(Number(timestamp) * 1_000, 'notification', text)
}

const MAX_ENTRIES = 200

/** Renders what has happened to an object and what is planned, newest first. */
export const timeline = (entries: readonly Entry[]): Html => {
  const sorted = entries.toSorted((one, other) => one.at - other.at).toReversed()
  const older = sorted.length - MAX_ENTRIES
  const line = ({ at, kind, text }: Entry): Html =>
    html`<li class="${kind}">${Number.isFinite(at) && instant(at)} <span class="what">${kind}</span> <div>${text}</div></li>`
  return card(
    'Timeline',
    html`<p class="quiet">Newest first, in UTC.</p>
<ol class="timeline">${sorted.slice(0, MAX_ENTRIES).map(line)}</ol>
${older > 0 && html`<p class="quiet">${older} older entries are not shown.</p>`}`,
  )
}
