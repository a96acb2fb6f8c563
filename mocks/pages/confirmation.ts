import type { ConfirmationView } from '../gateway/views.ts'
import { type Html, html } from './html.ts'
import { backLink, closedPage, type Page, returnTarget } from './layout.ts'

const CLOSED: Readonly<
  Record<
    Exclude<ConfirmationView['status'], 'pending_confirmation'>,
    readonly [title: string, text: string, status: number]
  >
> = {
  succeeded: ['Payment made', 'This payment has been made.', 200],
  failed: ['Payment failed', 'This payment failed. Nothing was paid.', 200],
  pending_retry: ['Payment will be retried', 'This payment has not succeeded yet. It will be retried.', 200],
  expired: ['Payment expired', 'This payment can no longer be confirmed. Nothing was paid.', 410],
}

const summary = (
  view: ConfirmationView,
): Html => html`<p class="amount"><bdi>${view.amount} ${view.currency}</bdi></p>
<dl>
<div><dt>Merchant</dt><dd><bdi>${returnTarget(view.returnUrl).name}</bdi></dd></div>
<div><dt>Mobile number</dt><dd><bdi>${view.maskedMsisdn}</bdi></dd></div>
</dl>`

/** Every wrong code has the same message, which reveals nothing about the correct code. */
const WRONG_CODE = html`<p class="alert" id="problem" role="alert">The code is not correct.</p>`
const WRONG_FIELD = html` aria-invalid="true" aria-describedby="problem"`

/**
 * Returns the page at the `confirmation_url` of G1: the payment, and the field for the one-time code.
 *
 * @param hint what the mock's banner says about the code
 */
export const confirmationPage = (view: ConfirmationView, hint: string, wrongCode = false): Page => {
  if (view.status !== 'pending_confirmation') {
    return closedPage(CLOSED[view.status], summary(view), view.returnUrl)
  }
  const title = 'Confirm a payment'
  const target = returnTarget(view.returnUrl)
  return {
    status: wrongCode ? 400 : 200,
    title: wrongCode ? `Error: ${title}` : title,
    target,
    hint,
    content: html`<h1>${title}</h1>
${summary(view)}
${wrongCode ? WRONG_CODE : undefined}
<form method="post">
<label for="otp">One-time code</label>
<input id="otp" name="otp" type="text" inputmode="numeric" autocomplete="one-time-code" maxlength="32" required autofocus${wrongCode ? WRONG_FIELD : undefined}>
<button type="submit">Confirm</button>
</form>
${backLink(target)}`,
  }
}
