import type { KnownCycle } from '../../src/contract/subscriptions.ts'
import type { Gateway } from '../gateway/operations.ts'
import { gatewayDefaults } from '../gateway/options.ts'
import type { ConfirmationView } from '../gateway/views.ts'
import { FORM_TYPE, isForm, type ResponseData } from '../http/message.ts'
import type { PageHandler } from '../http/pipeline.ts'
import { decoded } from '../http/routes.ts'
import type { Subscriptions } from '../subscriptions/operations.ts'
import type { AuthorizationView } from '../subscriptions/views.ts'
import { isOwnForm } from './csrf.ts'
import { type Html, type HtmlValue, html } from './html.ts'
import { commonHeaders, type Page, pageResponse, returnTarget } from './layout.ts'

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

/** A subscription or charge on which the payer decides. */
interface Decision {
  readonly isOpen: boolean
  readonly status: string
  readonly returnUrl: string
  /** The amount and the terms. */
  readonly summary: Html
  /** The title and the content of the page while the payer can decide. */
  readonly title: string
  readonly content: HtmlValue
  readonly hint?: string | undefined
}

/** One kind of page for the payer. */
interface Route {
  readonly pattern: RegExp
  /** Returns what the payer decides. `isWrong` tells whether the payer has just entered a wrong code. */
  read(id: string, isWrong?: boolean): Decision | undefined
  /** Executes the decision of a form. */
  decide(id: string, form: URLSearchParams): 'done' | 'undecided' | 'wrong' | 'too late'
}

const day = (text: string): Html => html`<time datetime="${text}">${text}</time>`

/** Reads the page at the `url` of S-b: the terms of the subscription, and the payer's two choices. */
const authorization = (view: AuthorizationView): Decision => {
  const { amount, cycle, merchant, start, end, nextPayments, status, returnUrl } = view
  const summary = html`<p class="amount"><bdi>${amount}</bdi>
<small><bdi>${cycleInWords(cycle)}</bdi></small></p>
<dl>
<div><dt>Merchant</dt><dd><bdi>${merchant}</bdi></dd></div>
<div><dt>Starts</dt><dd>${day(start)}</dd></div>
<div><dt>Ends</dt><dd>${day(end)}</dd></div>
</dl>`
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
  const isOpen = status === 'INITIALIZED'
  return { isOpen, status, returnUrl, summary, title: 'Authorize a subscription', content }
}

const authorizationRoute = (domain: Subscriptions): Route => ({
  pattern: /^\/authorize\/([^/]+)\/?$/,
  read(id) {
    const view = domain.authorization(id)
    return view.ok ? authorization(view.value) : undefined
  },
  decide(id, form) {
    const decision = form.get('decision')
    if (decision !== 'authorize' && decision !== 'decline') return 'undecided'
    return domain[decision](id).ok ? 'done' : 'too late'
  },
})

/** Reads the page at the `confirmation_url` of G1: the payment, and the field for the one-time code. */
const confirmation = (view: ConfirmationView, isWrong: boolean): Decision => {
  const { status, amount, currency, maskedMsisdn, returnUrl } = view
  const summary = html`<p class="amount"><bdi>${amount} ${currency}</bdi></p>
<dl>
<div><dt>Merchant</dt><dd><bdi>${returnTarget(returnUrl).name}</bdi></dd></div>
<div><dt>Mobile number</dt><dd><bdi>${maskedMsisdn}</bdi></dd></div>
</dl>`
  // Every wrong code has the same message, which reveals nothing about the correct code.
  const content = [
    summary,
    isWrong && html`<p class="alert" id="problem" role="alert">The code is not correct.</p>`,
    html`<form method="post">
<label for="otp">One-time code</label>
<input id="otp" name="otp" type="text" inputmode="numeric" autocomplete="one-time-code" maxlength="32" required autofocus${isWrong && html` aria-invalid="true" aria-describedby="problem"`}>
<button type="submit">Confirm</button>
</form>`,
  ]
  const isOpen = status === 'pending_confirmation'
  return { isOpen, status, returnUrl, summary, title: 'Confirm a payment', content }
}

const confirmationRoute = (domain: Gateway): Route => {
  const { otp: code } = domain.reference()
  // A code that a test has chosen may be secret, so the page does not show it.
  const hint = code === gatewayDefaults.otp ? `The code is ${code}.` : 'The code is the option gateway.otp.'
  return {
    pattern: /^\/confirm\/([^/]+)\/?$/,
    read(id, isWrong = false) {
      const view = domain.confirmation(id)
      return view.ok ? { ...confirmation(view.value, isWrong), hint } : undefined
    },
    decide(id, form) {
      // Spaces are removed, because payers type or paste codes in groups of digits.
      const result = domain.confirm(id, { otp: (form.get('otp') ?? '').replace(/\s/g, '') })
      if (result.ok) return 'done'
      return result.refusal.reason === 'incorrect_code' ? 'wrong' : 'too late'
    },
  }
}

/** Returns the page of a decision, which leads back to the merchant. */
const pageOf = ({ isOpen, status, title, content, ...one }: Decision, isWrong = false): Page => {
  const target = returnTarget(one.returnUrl)
  const merchant = html`<bdi>${target.name}</bdi>`
  if (isOpen) {
    const back = html`<p class="back"><a href="${target.href}" rel="noreferrer">Back to ${merchant} without deciding</a></p>`
    return { status: isWrong ? 400 : 200, title, isWrong, content: [content, back], target, hint: one.hint }
  }
  const [closed, text, code = 200] = CLOSED[status] ?? ['Request closed', 'This request is closed.']
  const details = html`<p>${text}</p>
${one.summary}<p><a class="button" href="${target.href}" rel="noreferrer">Return to ${merchant}</a></p>`
  return { status: code, title: closed, content: details, target }
}

const messagePage = (status: number, title: string, text: string): Page => ({
  status,
  title,
  content: html`<p>${text}</p>`,
})

const PAGES = {
  unknown: messagePage(
    404,
    'Page not found',
    'There is no request at this address. A reset of the mock may have deleted the request.',
  ),
  undecided: messagePage(400, 'No choice made', 'Go back and choose to authorize or to decline.'),
  foreign: messagePage(
    403,
    'Request refused',
    'This form was not sent from its own page. Go back to the merchant and open the page again.',
  ),
  method: messagePage(405, 'Method not allowed', 'This page accepts GET and its own form only.'),
  type: messagePage(415, 'Request refused', `This page accepts a form of type ${FORM_TYPE} only.`),
}

/** Returns the page to show, or the merchant's address to which the payer is redirected after a `form`. */
const next = ({ read, decide }: Route, id: string, form?: URLSearchParams): Page | string => {
  const one = read(id)
  if (one === undefined) return PAGES.unknown
  if (form === undefined) return pageOf(one)
  const outcome = decide(id, form)
  if (outcome === 'done') return returnTarget(one.returnUrl).href
  if (outcome === 'undecided' && one.isOpen) return PAGES.undecided
  const isWrong = outcome === 'wrong'
  const page = pageOf(read(id, isWrong) ?? one, isWrong)
  // Otherwise the payer sent the form too late.
  return page.status === 200 ? { ...page, status: 409 } : page
}

export const createPages = (domains: {
  readonly subscriptions: Subscriptions
  readonly gateway: Gateway
}): PageHandler => {
  const routes = {
    subscriptions: authorizationRoute(domains.subscriptions),
    gateway: confirmationRoute(domains.gateway),
  }
  return async (area, request, path): Promise<ResponseData | undefined> => {
    const route = routes[area]
    const segment = route.pattern.exec(path)?.[1]
    if (segment === undefined) return undefined
    const { method, headers } = request
    const respond = async (page: Page | string): Promise<ResponseData> =>
      typeof page === 'string'
        ? { status: 303, headers: { Location: page, ...commonHeaders }, body: '' }
        : pageResponse(page, page === PAGES.method ? { Allow: 'GET, HEAD, POST' } : {})
    const id = decoded(segment)
    if (method === 'GET') return respond(next(route, id))
    if (method === 'HEAD') return { ...(await respond(next(route, id))), body: '' }
    if (method !== 'POST') return respond(PAGES.method)
    if (!isOwnForm(request, headers.get('host'))) return respond(PAGES.foreign)
    if (!isForm(headers.get('content-type'))) return respond(PAGES.type)
    return respond(next(route, id, new URLSearchParams(await request.text())))
  }
}
