import type { KnownCycle } from '../../src/contract/subscriptions.ts'
import type { Subscriptions } from '../subscriptions/operations.ts'
import type { AuthorizationView } from '../subscriptions/views.ts'
import { type Html, html } from './html.ts'
import { type ClosedWords, closedPage, messagePage, openPage, type Page, returnTarget } from './layout.ts'
import { type Route, tooLate, unknownPage } from './route.ts'

const CYCLES: Readonly<Record<KnownCycle, string>> = {
  DAILY: 'every day',
  WEEKLY: 'every week',
  FIFTEEN_DAYS: 'every 15 days',
}

/** Returns a cycle in words. Returns an unknown cycle unchanged. */
export const cycleInWords = (cycle: string): string => new Map(Object.entries(CYCLES)).get(cycle) ?? cycle

const CLOSED: Readonly<Record<string, ClosedWords>> = {
  SUCCEEDED: ['Subscription authorized', 'You have authorized these payments.'],
  FAILED: ['Subscription declined', 'You have declined these payments. Nothing will be paid.'],
  EXPIRED: ['Request expired', 'This request was open for too long. Nothing will be paid.', 410],
  CANCELLED: ['Request canceled', 'The merchant has canceled this request. Nothing will be paid.'],
}

const isOpen = ({ status }: AuthorizationView): boolean => status === 'INITIALIZED'

const day = (text: string): Html => html`<time datetime="${text}">${text}</time>`

/** Returns the page at the `url` of S-b: the terms of the subscription, and the payer's two choices. */
const pageOf = (view: AuthorizationView): Page => {
  const { amount, cycle, merchant, start, end, nextPayments, status, returnUrl } = view
  const summary = html`<p class="amount"><bdi>${amount}</bdi>
<small><bdi>${cycleInWords(cycle)}</bdi></small></p>
<dl>
<div><dt>Merchant</dt><dd><bdi>${merchant}</bdi></dd></div>
<div><dt>Starts</dt><dd>${day(start)}</dd></div>
<div><dt>Ends</dt><dd>${day(end)}</dd></div>
</dl>`
  if (!isOpen(view)) {
    const words = CLOSED[status] ?? (['Request closed', 'This request has already been decided.'] as const)
    return closedPage(words, summary, returnUrl)
  }
  const content = [
    html`<p class="quiet"><bdi>${merchant}</bdi> asks you to allow these payments.</p>`,
    summary,
    nextPayments.length > 0 &&
      html`<h2>Next payments</h2>
<ol>${nextPayments.map((date) => html`<li>${day(date)}</li>`)}</ol>`,
    html`<form method="post">
<button type="submit" name="decision" value="authorize">Authorize</button>
<button type="submit" name="decision" value="decline" class="plain">Decline</button>
</form>`,
  ]
  return openPage('Authorize a subscription', content, returnUrl)
}

const undecidedPage = messagePage(400, 'No choice made', 'Go back and choose to authorize or to decline.')

/** The page `/authorize/{invoiceId}` of area S. */
export const authorizationRoute = (domain: Subscriptions): Route => {
  const show = (id: string): Page => {
    const view = domain.authorization(id)
    return view.ok ? pageOf(view.value) : unknownPage
  }
  return {
    area: 'subscriptions',
    pattern: /^\/authorize\/([^/]+)\/?$/,
    show,
    submit(id, form) {
      const decision = form.get('decision')
      if (decision !== 'authorize' && decision !== 'decline') {
        const view = domain.authorization(id)
        return view.ok && isOpen(view.value) ? undecidedPage : tooLate(show(id))
      }
      const result = domain[decision](id)
      return result.ok ? returnTarget(result.value.returnUrl) : tooLate(show(id))
    },
  }
}
