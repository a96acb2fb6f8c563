import type { Gateway } from '../gateway/operations.ts'
import { gatewayDefaults } from '../gateway/options.ts'
import type { ConfirmationView } from '../gateway/views.ts'
import { html } from './html.ts'
import { type ClosedWords, closedPage, openPage, type Page, returnTarget } from './layout.ts'
import { type Route, tooLate, unknownPage } from './route.ts'

const CLOSED: Readonly<Record<Exclude<ConfirmationView['status'], 'pending_confirmation'>, ClosedWords>> = {
  succeeded: ['Payment made', 'This payment has been made.'],
  failed: ['Payment failed', 'This payment failed. Nothing was paid.'],
  pending_retry: ['Payment will be retried', 'This payment has not succeeded yet. It will be retried.'],
  expired: ['Payment expired', 'This payment can no longer be confirmed. Nothing was paid.', 410],
}

/** Returns the page at the `confirmation_url` of G1: the payment, and the field for the one-time code. */
const pageOf = (view: ConfirmationView, hint: string, isWrong: boolean): Page => {
  const { status, amount, currency, maskedMsisdn, returnUrl } = view
  const summary = html`<p class="amount"><bdi>${amount} ${currency}</bdi></p>
<dl>
<div><dt>Merchant</dt><dd><bdi>${returnTarget(returnUrl).name}</bdi></dd></div>
<div><dt>Mobile number</dt><dd><bdi>${maskedMsisdn}</bdi></dd></div>
</dl>`
  if (status !== 'pending_confirmation') return closedPage(CLOSED[status], summary, returnUrl)
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

/** The page `/confirm/{confirmationId}` of area G. */
export const confirmationRoute = (domain: Gateway): Route => {
  const { otp: code } = domain.reference()
  // A code that a test has chosen may be secret, so the page does not show it.
  const hint = code === gatewayDefaults.otp ? `The code is ${code}.` : 'The code is the option gateway.otp.'
  const show = (id: string, isWrong = false): Page => {
    const view = domain.confirmation(id)
    return view.ok ? pageOf(view.value, hint, isWrong) : unknownPage
  }
  return {
    area: 'gateway',
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
