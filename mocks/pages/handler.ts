import type { KnownCycle } from '../../src/contract/subscriptions.ts'
import type { Gateway } from '../gateway/operations.ts'
import { gatewayDefaults } from '../gateway/options.ts'
import type { ConfirmationView } from '../gateway/views.ts'
import { FORM_TYPE, isForm } from '../http/message.ts'
import type { PageHandler } from '../http/pipeline.ts'
import { decoded } from '../http/routes.ts'
import type { Subscriptions } from '../subscriptions/operations.ts'
import type { AuthorizationView } from '../subscriptions/views.ts'
import { isOwnForm } from './csrf.ts'
import { type Html, type HtmlValue, html } from './html.ts'
import { commonHeaders, type Page, pageResponse, type ReturnTarget, returnTarget } from './layout.ts'

const CYCLES: Readonly<Record<KnownCycle, string>> = {
  DAILY: 'every day',
  WEEKLY: 'every week',
  FIFTEEN_DAYS: 'every 15 days',
}

/** Returns a cycle in words. Returns an unknown cycle unchanged. */
export const cycleInWords = (cycle: string): string => new Map(Object.entries(CYCLES)).get(cycle) ?? cycle

/** What the page of a subscription or charge says that is no longer open. The default status is 200. */
type ClosedWords = readonly [title: string, text: string, status?: number]
type ClosedCharge = Exclude<ConfirmationView['status'], 'pending_confirmation'>

const CLOSED: Readonly<Record<ClosedCharge, ClosedWords> & Record<string, ClosedWords>> = {
  SUCCEEDED: ['Subscription authorized', 'You have authorized these payments.'],
  FAILED: ['Subscription declined', 'You have declined these payments. Nothing will be paid.'],
  EXPIRED: ['Request expired', 'This request was open for too long. Nothing will be paid.', 410],
  CANCELLED: ['Request canceled', 'The merchant has canceled this request. Nothing will be paid.'],
  succeeded: ['Payment made', 'This payment has been made.'],
  failed: ['Payment failed', 'This payment failed. Nothing was paid.'],
  pending_retry: ['Payment will be retried', 'This payment has not succeeded yet. It will be retried.'],
  expired: ['Payment expired', 'This payment can no longer be confirmed. Nothing was paid.', 410],
}

const isUndecided = ({ status }: AuthorizationView): boolean => status === 'INITIALIZED'

const way = (target: ReturnTarget, before: string, after = ''): Html =>
  html` href="${target.href}" rel="noreferrer">${before} <bdi>${target.name}</bdi>${after}</a>`

/** Returns a page on which the payer decides, with a link that leads back to the merchant without a decision. */
const openPage = (title: string, content: HtmlValue, address: string, more: Partial<Page> = {}): Page => {
  const target = returnTarget(address)
  const back = html`<p class="back"><a${way(target, 'Back to', ' without deciding')}</p>`
  return { status: 200, title, content: [content, back], target, ...more }
}

/** Returns a page of a subscription or charge that is no longer open, with a link back to the merchant. */
const closedPage = (closed: string, summary: Html, address: string): Page => {
  const target = returnTarget(address)
  const [title, text, status = 200] = CLOSED[closed] ?? ['Request closed', 'This request is closed.']
  const content = [html`<p>${text}</p>`, summary, html`<p><a class="button"${way(target, 'Return to')}</p>`]
  return { status, title, content, target }
}

const MESSAGES = {
  unknown: [
    404,
    'Page not found',
    'There is no request at this address. A reset of the mock may have deleted the request.',
  ],
  undecided: [400, 'No choice made', 'Go back and choose to authorize or to decline.'],
  foreign: [
    403,
    'Request refused',
    'This form was not sent from its own page. Go back to the merchant and open the page again.',
  ],
  method: [405, 'Method not allowed', 'This page accepts GET and its own form only.'],
  type: [415, 'Request refused', `This page accepts a form of type ${FORM_TYPE} only.`],
} as const

const messagePage = (name: keyof typeof MESSAGES): Page => {
  const [status, title, text] = MESSAGES[name]
  return { status, title, content: html`<p>${text}</p>` }
}

const day = (text: string): Html => html`<time datetime="${text}">${text}</time>`

/** Returns the page at the `url` of S-b: the terms of the subscription, and the payer's two choices. */
const authorizationPage = (view: AuthorizationView): Page => {
  const { amount, cycle, merchant, start, end, nextPayments, status, returnUrl } = view
  const summary = html`<p class="amount"><bdi>${amount}</bdi>
<small><bdi>${cycleInWords(cycle)}</bdi></small></p>
<dl>
<div><dt>Merchant</dt><dd><bdi>${merchant}</bdi></dd></div>
<div><dt>Starts</dt><dd>${day(start)}</dd></div>
<div><dt>Ends</dt><dd>${day(end)}</dd></div>
</dl>`
  if (!isUndecided(view)) return closedPage(status, summary, returnUrl)
  const content = html`<p class="quiet"><bdi>${merchant}</bdi> asks you to allow these payments.</p>
${summary}
${nextPayments.length > 0 && html`<h2>Next payments</h2><ol>${nextPayments.map((date) => html`<li>${day(date)}</li>`)}</ol>`}
<form method="post">
<button type="submit" name="decision" value="authorize" class="primary">Authorize</button>
<button type="submit" name="decision" value="decline" class="plain">Decline</button>
</form>`
  return openPage('Authorize a subscription', content, returnUrl)
}

/** Returns the page at the `confirmation_url` of G1: the payment, and the field for the one-time code. */
const confirmationPage = (view: ConfirmationView, hint: string, isWrong: boolean): Page => {
  const { status, amount, currency, maskedMsisdn, returnUrl } = view
  const summary = html`<p class="amount"><bdi>${amount} ${currency}</bdi></p>
<dl>
<div><dt>Merchant</dt><dd><bdi>${returnTarget(returnUrl).name}</bdi></dd></div>
<div><dt>Mobile number</dt><dd><bdi>${maskedMsisdn}</bdi></dd></div>
</dl>`
  if (status !== 'pending_confirmation') return closedPage(status, summary, returnUrl)
  // Every wrong code has the same message, which reveals nothing about the correct code.
  const content = html`${summary}
${isWrong && html`<p class="alert" id="problem" role="alert">The code is not correct.</p>`}
<form method="post">
<label for="otp">One-time code</label>
<input id="otp" name="otp" type="text" inputmode="numeric" autocomplete="one-time-code" maxlength="32" required autofocus${isWrong && html` aria-invalid="true" aria-describedby="problem"`}>
<button type="submit" class="primary">Confirm</button>
</form>`
  return openPage('Confirm a payment', content, returnUrl, { hint, isWrong, status: isWrong ? 400 : 200 })
}

/** Executes the form, if there is one. Returns the page to show, or the address to which the payer is redirected. */
type Route = (id: string, form?: URLSearchParams) => Page | string

const authorizationRoute =
  (domain: Subscriptions): Route =>
  (id, form) => {
    const before = domain.authorization(id)
    if (!before.ok) return messagePage('unknown')
    const decision = form?.get('decision')
    if (decision === 'authorize' || decision === 'decline') {
      if (domain[decision](id).ok) return before.value.returnUrl
    } else if (form !== undefined && isUndecided(before.value)) return messagePage('undecided')
    return authorizationPage(before.value)
  }

const confirmationRoute = (domain: Gateway): Route => {
  const { otp: code } = domain.reference()
  // A code that a test has chosen may be secret, so the page does not show it.
  const hint = code === gatewayDefaults.otp ? `The code is ${code}.` : 'The code is the option gateway.otp.'
  return (id, form) => {
    // Spaces are removed, because payers type or paste codes in groups of digits.
    const result = form && domain.confirm(id, { otp: (form.get('otp') ?? '').replace(/\s/g, '') })
    const view = domain.confirmation(id)
    if (!view.ok) return messagePage('unknown')
    if (result?.ok) return view.value.returnUrl
    return confirmationPage(view.value, hint, result?.refusal.reason === 'incorrect_code')
  }
}

export const createPages = (domains: {
  readonly subscriptions: Subscriptions
  readonly gateway: Gateway
}): PageHandler => {
  const routes = {
    subscriptions: [/^\/authorize\/([^/]+)\/?$/, authorizationRoute(domains.subscriptions)],
    gateway: [/^\/confirm\/([^/]+)\/?$/, confirmationRoute(domains.gateway)],
  } as const
  return async (area, request, path) => {
    const [pattern, route] = routes[area]
    const segment = pattern.exec(path)?.[1]
    if (segment === undefined) return undefined
    const { method, headers } = request
    const sendsForm = method === 'POST'
    if (method !== 'GET' && method !== 'HEAD' && !sendsForm) {
      return pageResponse(messagePage('method'), { Allow: 'GET, HEAD, POST' })
    }
    if (sendsForm && !isOwnForm(request, headers.get('host'))) return pageResponse(messagePage('foreign'))
    if (sendsForm && !isForm(headers.get('content-type'))) return pageResponse(messagePage('type'))
    const next = route(decoded(segment), sendsForm ? new URLSearchParams(await request.text()) : undefined)
    if (typeof next === 'string') {
      // With status 303, the browser always uses GET.
      return { status: 303, headers: { Location: returnTarget(next).href, ...commonHeaders }, body: '' }
    }
    // The payer sent the form too late if it did not lead to another page.
    const sent = await pageResponse(sendsForm && next.status === 200 ? { ...next, status: 409 } : next)
    return method === 'HEAD' ? { ...sent, body: '' } : sent
  }
}
