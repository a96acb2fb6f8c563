import type { KnownCycle } from '../../src/contract/subscriptions.ts'
import type { AuthorizationView } from '../subscriptions/views.ts'
import { type Html, html } from './html.ts'
import { backLink, closedPage, type Page, returnTarget } from './layout.ts'

const CYCLES: Readonly<Record<KnownCycle, string>> = {
  DAILY: 'every day',
  WEEKLY: 'every week',
  FIFTEEN_DAYS: 'every 15 days',
}

/** Returns a cycle in words. Returns an unknown cycle unchanged. */
export const cycleInWords = (cycle: string): string => new Map(Object.entries(CYCLES)).get(cycle) ?? cycle

const CLOSED: Readonly<Record<string, readonly [title: string, text: string, status: number]>> = {
  SUCCEEDED: ['Subscription authorized', 'You have authorized these payments.', 200],
  FAILED: ['Subscription declined', 'You have declined these payments. Nothing will be paid.', 200],
  EXPIRED: ['Request expired', 'This request was open for too long. Nothing will be paid.', 410],
  CANCELLED: ['Request canceled', 'The merchant has canceled this request. Nothing will be paid.', 200],
}

/** Returns whether the payer can still decide. */
export const isOpen = (view: AuthorizationView): boolean => view.status === 'INITIALIZED'

const day = (text: string): Html => html`<time datetime="${text}">${text}</time>`

const summary = (view: AuthorizationView): Html => html`<p class="amount"><bdi>${view.amount}</bdi>
<small><bdi>${cycleInWords(view.cycle)}</bdi></small></p>
<dl>
<div><dt>Merchant</dt><dd><bdi>${view.merchant}</bdi></dd></div>
<div><dt>Starts</dt><dd>${day(view.start)}</dd></div>
<div><dt>Ends</dt><dd>${day(view.end)}</dd></div>
</dl>`

const nextPayments = (dates: readonly string[]): Html => html`<h2>Next payments</h2>
<ol>${dates.map((date) => html`<li>${day(date)}</li>`)}</ol>`

/** Returns the page at the `url` of S-b: the terms of the subscription, and the payer's two choices. */
export const authorizationPage = (view: AuthorizationView): Page => {
  if (!isOpen(view)) {
    const words = CLOSED[view.status] ?? ['Request closed', 'This request has already been decided.', 200]
    return closedPage(words, summary(view), view.returnUrl)
  }
  const target = returnTarget(view.returnUrl)
  return {
    status: 200,
    title: 'Authorize a subscription',
    target,
    content: html`<h1>Authorize a subscription</h1>
<p class="quiet"><bdi>${view.merchant}</bdi> asks you to allow these payments.</p>
${summary(view)}
${view.nextPayments.length === 0 ? undefined : nextPayments(view.nextPayments)}
<form method="post">
<button type="submit" name="decision" value="authorize">Authorize</button>
<button type="submit" name="decision" value="decline" class="plain">Decline</button>
</form>
${backLink(target)}`,
  }
}
