import { chargeTransitions, confirmationPath } from '../gateway/state.ts'
import type { ListedCharge } from '../gateway/views.ts'
import { type Html, html } from '../pages/html.ts'
import { badge, card, facts, identifier, instant, isolate, linkTo, listTable } from './components.ts'
import { actionsOf } from './form.ts'
import { machine } from './machines.ts'
import {
  type Context,
  createCard,
  howToGet,
  type PanelPage,
  payersPage,
  requestEntry,
  timeline,
} from './timeline.ts'
import { findCharge, requestsOf } from './view.ts'

const amountOf = ({ amount, currency }: ListedCharge): Html =>
  html`<strong class="amount">${isolate(`${amount} ${currency}`)}</strong>`

const stateOf = (one: ListedCharge): Html =>
  html`${badge(one.status)}${one.renews === undefined ? undefined : html` ${badge('renewal')}`}`

/** Renders the one next action of a charge, if there is any. */
const next = (one: ListedCharge, { form }: Context): Html | undefined => {
  if (one.status === 'pending_confirmation') {
    const given = { confirmationId: one.confirmation_id }
    return form('confirm', 'Enter the correct code', {
      given,
      of: `for ${one.id}`,
      first: [],
      isPrimary: true,
    })
  }
  if (one.status === 'pending_retry' && one.planned !== undefined) {
    return form('set-clock', 'To the retry', { given: { time: one.planned.at }, isPrimary: true })
  }
  if (one.status !== 'succeeded' || one.renews !== undefined) return undefined
  return form('renew', 'Renew', { given: { id: one.id }, of: one.id, isPrimary: true })
}

const otherActions = (one: ListedCharge, { form }: Context): Html | undefined => {
  const { confirmation_id: confirmationId } = one
  if (one.status !== 'pending_confirmation') return undefined
  const end = (label: string, behavior: string): Html =>
    form('end-charge', label, { given: { confirmationId, behavior } })
  return actionsOf(
    end('Fail', 'insufficient_funds'),
    end('Expire', 'expires'),
    end('Leave for a retry', 'retry_then_succeeds'),
    payersPage(confirmationPath(confirmationId)),
  )
}

/** The page with all charges. */
export const chargesPage = (context: Context): PanelPage => {
  const { view, query, form } = context
  const charges = listTable(view.charges, query, {
    id: 'charges',
    none: howToGet('charge'),
    keyOf: ({ id }) => id,
    columns: {
      Charge: ({ id }) => linkTo('charges', id),
      State: stateOf,
      Amount: amountOf,
      Payer: ({ msisdn }) => isolate(msisdn),
      Created: (one) => instant(one.created_at),
      Actions: (one) => next(one, context),
    },
  })
  const number = card(
    'Result of a number',
    form('behavior', 'Set the result', { values: { behavior: 'insufficient_funds' } }),
  )
  return {
    title: 'Charges',
    data: charges,
    controls: [createCard('charge', ['msisdn', 'amount'], form), number],
  }
}

/** The page of one charge; `undefined` if there is no such charge. */
export const chargePage = (context: Context, id: string): PanelPage | undefined => {
  const { mock } = context
  const one = findCharge(mock, new Set([id]))
  if (one === undefined) return undefined
  const events = mock.state
    .events()
    .filter(({ data }) => data.id === one.id)
    .map(({ type, created_at: at }) => ({
      at: Date.parse(at),
      kind: 'event' as const,
      text: type.replace('charge.', '').replaceAll('_', ' '),
    }))
  const { renews, idempotencyKey, planned } = one
  const plan = planned && {
    at: Date.parse(planned.at),
    kind: 'planned' as const,
    text: html`if no call comes first: ${badge(planned.status)}`,
  }
  const state = card(
    'State',
    html`${facts({
      State: stateOf(one),
      Outcome: isolate(one.outcome.toLowerCase().replaceAll('_', ' ')),
      Amount: amountOf(one),
      Payer: isolate(one.msisdn),
      Charge: identifier(one.id, 'the charge'),
      Confirmation: identifier(one.confirmation_id, 'the confirmation'),
      Renews: linkTo('charges', renews),
      'Idempotency key': idempotencyKey === undefined ? undefined : isolate(idempotencyKey),
      Created: instant(one.created_at),
      Requests: html`<a href="/_mock/requests?requests.of=${encodeURIComponent(one.id)}">All requests about it</a>`,
    })}
${actionsOf(next(one, context) ?? html`<p class="quiet">Nothing more will happen to this charge.</p>`)}
${otherActions(one, context)}`,
  )
  return {
    title: 'Charge',
    subject: one.id,
    data: [
      state,
      timeline([...requestsOf(mock, one.id).map(requestEntry), ...events, ...(plan ? [plan] : [])]),
      card('State machine', machine('Charge', chargeTransitions, one.status)),
    ],
  }
}
