import { type Html, html } from '../pages/html.ts'
import {
  actionsOf,
  badge,
  capitalized,
  instant,
  isolate,
  linkTo,
  rows,
  visuallyHidden,
} from './components.ts'
import { factsOf } from './list.ts'
import type { Context, PanelPage } from './page.ts'
import { requestLine } from './traffic.ts'
import { listNames } from './view.ts'
import { faultInWords } from './words.ts'

/** The first page: what there is, what happened last, and the state as a whole. */
export const overviewPage = ({ view, form }: Context): PanelPage => {
  const count = (name: string, total: number): readonly [string, Html] => [
    capitalized(name),
    html`<a href="/_mock/${name === 'payments' ? 'subscriptions' : name}">${total}${visuallyHidden(name)}</a>`,
  ]
  const counts = [
    ...listNames.map((name) => count(name, view[name].total)),
    count('faults', view.faults.length),
  ]
  const subscriptions = view.subscriptions.items
    .filter(({ phase }) => phase === 'PENDING')
    .map((one) => [linkTo('subscriptions', one.invoiceId, one.requestID), badge('waits for the payer')])
  const charges = view.charges.items
    .filter(({ status }) => status === 'pending_confirmation')
    .map(({ id }) => [linkTo('charges', id), badge('waits for the code')])
  const snapshot = ({ name, at }: { readonly name: string; readonly at: Date }): Html => {
    const [given, of] = [{ name }, name]
    return html`<strong>${isolate(name)}</strong> ${instant(at)} ${actionsOf(form('restore-snapshot', 'Restore', { given, of }), form('remove-snapshot', 'Remove', { given, of }))}`
  }
  return {
    title: 'Overview',
    data: {
      'What the mock has': factsOf({
        ...Object.fromEntries(counts),
        Outages: view.outages.join(' and ') || 'none',
        'Next event': html`${view.nextEventAt && instant(view.nextEventAt)} ${isolate(view.nextEvent ?? 'nothing is planned')}`,
      }),
      'Waiting for the payer': rows(
        [...subscriptions, ...charges].slice(0, 8),
        'Nothing waits. Create a subscription or a charge here.',
      ),
      'Last requests': rows(
        view.requests.items.slice(0, 8).map(requestLine),
        html`None yet. <a href="/_mock/connect">Connect</a> your shop, or create something here.`,
      ),
    },
    controls: {
      Create: html`<p class="quiet">Calls the APIs as a shop does.</p>
${actionsOf(form('subscribe', 'Create a subscription', { first: [], isPrimary: true }), form('charge', 'Create a charge', { first: [] }))}`,
      Clock: html`<p class="quiet">When the clock moves, everything that is due happens in order, each at its due time.${view.isFrozen && ' The clock is frozen until you move it: payments, expiries, lockouts (403) and retries of notifications wait.'} Moving the clock here does not expire tokens.</p>
${form('set-clock', 'Set the clock')}
<details id="by-length"><summary>Move by any length</summary>${form('advance', 'Move forward', { isPrimary: false })}</details>`,
      Snapshots: [
        rows(view.snapshots.map(snapshot), 'None yet. Save the state before you try something.'),
        form('save-snapshot', 'Save the state'),
      ],
      'Start again': [html`<p class="quiet">Saved snapshots stay.</p>`, form('reset', 'Reset the mock')],
    },
  }
}

export const faultsPage = ({ view, form }: Context): PanelPage => {
  const faults = view.faults.map(({ number, fault, left }) => {
    const of = faultInWords(fault, left)
    return [html`<strong>${isolate(of)}</strong>`, form('remove-fault', 'Remove', { given: { number }, of })]
  })
  const areas = (['subscriptions', 'gateway'] as const).map((area) => {
    const options = { given: { area }, of: area }
    return view.outages.includes(area)
      ? html`${area} ${badge('down')} ${form('end-outage', 'End the outage', options)}`
      : html`${area} ${badge('up')} ${form('start-outage', 'Start an outage', options)}`
  })
  return {
    title: 'Faults',
    data: {
      Faults: [
        rows(faults, 'None. Add one in the form: it applies to the next calls of its operation.'),
        faults.length > 1 && form('clear-faults', 'Remove all'),
      ],
      Outages: rows(areas, ''),
      Tokens: actionsOf(
        form('expire-tokens', 'Expire access tokens'),
        form('revoke-tokens', 'Revoke all tokens'),
      ),
    },
    controls: {
      'Add a fault': form('fault', 'Add the fault', {
        first: ['operation', 'kind', 'status', 'latencyMs', 'times', 'when.msisdn', 'when.requestID'],
        values: { operation: 'gateway.charge', kind: 'status' },
      }),
    },
  }
}
