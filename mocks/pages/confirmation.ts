import type { ConfirmationView } from '../domain/gateway/types.ts'
import type { Html } from './html.ts'
import { html } from './html.ts'
import type { Page } from './layout.ts'
import { messagePage, returnTarget } from './layout.ts'

const DECIDED: Readonly<
  Record<
    Exclude<ConfirmationView['status'], 'pending_confirmation'>,
    readonly [title: string, text: string, status: number]
  >
> = {
  succeeded: ['Payment made', 'This payment has been made.', 200],
  failed: ['Payment failed', 'This payment could not be made. Nothing was paid.', 200],
  pending_retry: [
    'Payment being tried again',
    'This payment could not be made yet. It will be tried again.',
    200,
  ],
  expired: ['Payment expired', 'This payment can no longer be confirmed. Nothing was paid.', 410],
}

const summary = (
  view: ConfirmationView,
): Html => html`<p class="amount"><bdi>${view.amount} ${view.currency}</bdi></p>
<dl>
<div><dt>Mobile number</dt><dd><bdi>${view.maskedMsisdn}</bdi></dd></div>
</dl>`

/** The same for every wrong code, whatever was typed: it says nothing about the right one. */
const WRONG_CODE = html`<p class="alert" id="problem" role="alert">The code is not correct.</p>`

/** The page behind G1's `confirmation_url`: what is to be paid, and the one-time code. */
export const confirmationPage = (view: ConfirmationView, wrongCode = false): Page => {
  const target = returnTarget(view.redirectUri)
  if (view.status !== 'pending_confirmation') {
    const [title, text, status] = DECIDED[view.status]
    return messagePage(status, title, text, { details: summary(view), target, offersReturn: true })
  }
  const title = 'Confirm a payment'
  return {
    status: wrongCode ? 400 : 200,
    title: wrongCode ? `Error: ${title}` : title,
    target,
    content: html`<h1>${title}</h1>
${summary(view)}
${wrongCode ? WRONG_CODE : undefined}
<form method="post">
<label for="otp">One-time code</label>
${wrongCode ? WRONG_FIELD : FIELD}
<button type="submit">Confirm</button>
</form>`,
  }
}

const FIELD = html`<input id="otp" name="otp" type="text" inputmode="numeric" autocomplete="one-time-code" maxlength="32" required autofocus>`
const WRONG_FIELD = html`<input id="otp" name="otp" type="text" inputmode="numeric" autocomplete="one-time-code" maxlength="32" required autofocus aria-invalid="true" aria-describedby="problem">`
