import type { KnownCycle } from '../../src/contract/subscriptions.ts'
import type { AuthorizationView } from '../domain/subscriptions/types.ts'
import type { Html } from './html.ts'
import { html } from './html.ts'
import type { Page } from './layout.ts'
import { messagePage, returnTarget } from './layout.ts'

const WORDS: Readonly<Record<KnownCycle, string>> = {
  DAILY: 'every day',
  WEEKLY: 'every week',
  FIFTEEN_DAYS: 'every 15 days',
}

/** How often a cycle comes round, in words; a cycle that is not known as it is written. */
export const cycleInWords = (cycle: string): string => new Map(Object.entries(WORDS)).get(cycle) ?? cycle

const DECIDED: Readonly<Record<string, readonly [title: string, text: string, status: number]>> = {
  SUCCEEDED: ['Subscription authorized', 'You have authorized these payments.', 200],
  FAILED: ['Subscription declined', 'You have declined these payments. Nothing will be paid.', 200],
  EXPIRED: ['Request expired', 'This request was open too long. Nothing will be paid.', 410],
  CANCELLED: ['Request cancelled', 'The merchant has cancelled this request. Nothing will be paid.', 200],
}

/** Whether the payer can still decide. */
export const isOpen = (view: AuthorizationView): boolean => view.status === 'INITIALIZED'

const day = (text: string): Html => html`<time datetime="${text}">${text}</time>`

const summary = (view: AuthorizationView): Html => html`<p class="amount"><bdi>${view.amount}</bdi>
<small><bdi>${cycleInWords(view.cycle)}</bdi></small></p>
<dl>
<div><dt>Merchant</dt><dd><bdi>${view.merchant}</bdi></dd></div>
<div><dt>Starts</dt><dd>${day(view.start)}</dd></div>
<div><dt>Ends</dt><dd>${day(view.end)}</dd></div>
</dl>`

const upcoming = ({ nextPayments }: AuthorizationView): Html | undefined =>
  nextPayments.length === 0
    ? undefined
    : html`<h2>Next payments</h2>
<ol>${nextPayments.map((date) => html`<li>${day(date)}</li>`)}</ol>`

/** The page behind S-b's `url`: what is asked, and the payer's two answers. */
export const authorizationPage = (view: AuthorizationView): Page => {
  const target = returnTarget(view.returnUrl)
  if (!isOpen(view)) {
    const [title, text, status] = DECIDED[view.status] ?? [
      'Request closed',
      'This request has been answered already.',
      200,
    ]
    return messagePage(status, title, text, { details: summary(view), target, offersReturn: true })
  }
  return {
    status: 200,
    title: 'Authorize a subscription',
    target,
    content: html`<h1>Authorize a subscription</h1>
<p class="quiet"><bdi>${view.merchant}</bdi> asks you to allow these payments.</p>
${summary(view)}
${upcoming(view)}
<form method="post">
<button type="submit" name="decision" value="authorize">Authorize</button>
<button type="submit" name="decision" value="decline" class="plain">Decline</button>
</form>`,
  }
}
