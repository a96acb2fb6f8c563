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
import { type Html, html } from './html.ts'
import type { ClosedWords, Page, ReturnTarget } from './layout.ts'
import { closedPage, messagePage, openPage, pageResponse, redirectResponse, returnTarget } from './layout.ts'

/** One kind of page for the payer. `show` shows the page, and `submit` processes the form. */
interface Route {
  readonly pattern: RegExp
  readonly show: (id: string) => Page
  /** Returns the page to show next, or the merchant's address to which the payer is redirected. */
  readonly submit: (id: string, form: URLSearchParams) => Page | ReturnTarget
}

const unknownPage = messagePage(
  404,
  'Page not found',
  'There is no request at this address. A reset of the mock may have deleted the request.',
)

/** Replaces the status 200 of a page with 409, because the payer sent the form too late. */
const tooLate = (page: Page): Page => (page.status === 200 ? { ...page, status: 409 } : page)

const CYCLES: Readonly<Record<KnownCycle, string>> = {
  DAILY: 'every day',
  WEEKLY: 'every week',
  FIFTEEN_DAYS: 'every 15 days',
}

/** Returns a cycle in words. Returns an unknown cycle unchanged. */
export const cycleInWords = (cycle: string): string => new Map(Object.entries(CYCLES)).get(cycle) ?? cycle

const CLOSED_REQUEST: Readonly<Record<string, ClosedWords>> = {
  SUCCEEDED: ['Subscription authorized', 'You have authorized these payments.'],
  FAILED: ['Subscription declined', 'You have declined these payments. Nothing will be paid.'],
  EXPIRED: ['Request expired', 'This request was open for too long. Nothing will be paid.', 410],
  CANCELLED: ['Request canceled', 'The merchant has canceled this request. Nothing will be paid.'],
}

const isUndecided = ({ status }: AuthorizationView): boolean => status === 'INITIALIZED'

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
  if (!isUndecided(view)) {
    const words =
      CLOSED_REQUEST[status] ?? (['Request closed', 'This request has already been decided.'] as const)
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

const authorizationRoute = (domain: Subscriptions): Route => {
  const show = (id: string): Page => {
    const view = domain.authorization(id)
    return view.ok ? authorizationPage(view.value) : unknownPage
  }
  return {
    pattern: /^\/authorize\/([^/]+)\/?$/,
    show,
    submit(id, form) {
      const decision = form.get('decision')
      if (decision !== 'authorize' && decision !== 'decline') {
        const view = domain.authorization(id)
        return view.ok && isUndecided(view.value) ? undecidedPage : tooLate(show(id))
      }
      const result = domain[decision](id)
      return result.ok ? returnTarget(result.value.returnUrl) : tooLate(show(id))
    },
  }
}

const CLOSED_PAYMENT: Readonly<
  Record<Exclude<ConfirmationView['status'], 'pending_confirmation'>, ClosedWords>
> = {
  succeeded: ['Payment made', 'This payment has been made.'],
  failed: ['Payment failed', 'This payment failed. Nothing was paid.'],
  pending_retry: ['Payment will be retried', 'This payment has not succeeded yet. It will be retried.'],
  expired: ['Payment expired', 'This payment can no longer be confirmed. Nothing was paid.', 410],
}

/** Returns the page at the `confirmation_url` of G1: the payment, and the field for the one-time code. */
const confirmationPage = (view: ConfirmationView, hint: string, isWrong: boolean): Page => {
  const { status, amount, currency, maskedMsisdn, returnUrl } = view
  const summary = html`<p class="amount"><bdi>${amount} ${currency}</bdi></p>
<dl>
<div><dt>Merchant</dt><dd><bdi>${returnTarget(returnUrl).name}</bdi></dd></div>
<div><dt>Mobile number</dt><dd><bdi>${maskedMsisdn}</bdi></dd></div>
</dl>`
  if (status !== 'pending_confirmation') return closedPage(CLOSED_PAYMENT[status], summary, returnUrl)
  const title = 'Confirm a payment'
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
  return openPage(title, content, returnUrl, {
    hint,
    ...(isWrong && { status: 400, title: `Error: ${title}` }),
  })
}

const confirmationRoute = (domain: Gateway): Route => {
  const { otp: code } = domain.reference()
  // A code that a test has chosen may be secret, so the page does not show it.
  const hint = code === gatewayDefaults.otp ? `The code is ${code}.` : 'The code is the option gateway.otp.'
  const show = (id: string, isWrong = false): Page => {
    const view = domain.confirmation(id)
    return view.ok ? confirmationPage(view.value, hint, isWrong) : unknownPage
  }
  return {
    pattern: /^\/confirm\/([^/]+)\/?$/,
    show: (id) => show(id),
    submit(id, form) {
      const view = domain.confirmation(id)
      if (!view.ok) return unknownPage
      // Spaces are removed, because payers type or paste codes in groups of digits.
      const otp = (form.get('otp') ?? '').replace(/\s/g, '')
      const result = domain.confirm(id, { otp })
      if (result.ok) return returnTarget(view.value.returnUrl)
      return result.refusal.reason === 'incorrect_code' ? show(id, true) : tooLate(show(id))
    },
  }
}

const foreignPage = messagePage(
  403,
  'Request refused',
  'This form was not sent from its own page. Go back to the merchant and open the page again.',
)
const methodPage = messagePage(405, 'Method not allowed', 'This page accepts GET and its own form only.')
const formPage = messagePage(415, 'Request refused', `This page accepts a form of type ${FORM_TYPE} only.`)

export const createPages = (domains: {
  readonly subscriptions: Subscriptions
  readonly gateway: Gateway
}): PageHandler => {
  const routes = {
    subscriptions: authorizationRoute(domains.subscriptions),
    gateway: confirmationRoute(domains.gateway),
  }
  return async (area, request, path) => {
    const { pattern, show, submit } = routes[area]
    const segment = pattern.exec(path)?.[1]
    if (segment === undefined) return undefined
    const id = decoded(segment)
    const { method, headers } = request
    if (method === 'GET') return pageResponse(show(id))
    if (method === 'HEAD') return { ...(await pageResponse(show(id))), body: '' }
    if (method !== 'POST') return pageResponse(methodPage, { Allow: 'GET, HEAD, POST' })
    if (!isOwnForm(request, headers.get('host'))) return pageResponse(foreignPage)
    if (!isForm(headers.get('content-type'))) return pageResponse(formPage)
    const next = submit(id, new URLSearchParams(await request.text()))
    return 'href' in next ? redirectResponse(next) : pageResponse(next)
  }
}
