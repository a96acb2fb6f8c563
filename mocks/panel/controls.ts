import { behaviors, testNumbers } from '../gateway/behaviors.ts'
import { operations } from '../http/area.ts'
import { type Fault, faultKinds } from '../http/fault-schema.ts'
import { type Html, type HtmlValue, html } from '../pages/html.ts'
import { actionButton, actionForm, card, foreign, instant, pill } from './components.ts'
import type { PanelView } from './view.ts'

const MOVES: readonly (readonly [unit: 'hours' | 'days' | 'months', count: number, label: string])[] = [
  ['hours', 1, '1 hour'],
  ['days', 1, '1 day'],
  ['days', 7, '7 days'],
  ['days', 15, '15 days'],
  ['months', 1, '1 month'],
]

const options = (texts: readonly HtmlValue[]): readonly Html[] =>
  texts.map((text) => html`<option>${text}</option>`)

const numberField = (label: string, name: string): Html =>
  html`<label>${label} <input name="${name}" inputmode="decimal" size="4" autocomplete="off"></label>`

const FROZEN = html` The clock is frozen until you move it: payments, expiries, lockouts (403) and retries of notifications wait.`

const clock = ({ now, isFrozen }: PanelView): Html =>
  card(
    'clock',
    'Clock',
    html`<p class="clock"><span id="clock-now" data-live>${instant(now)}</span> <small>UTC</small></p>
<p class="quiet">Everything that becomes due runs in order, each at its due time.${isFrozen ? FROZEN : undefined} Moving the clock here does not expire tokens.</p>
<div class="moves" role="group" aria-label="Move the clock forward by">
${MOVES.map(([unit, count, label]) => actionButton('advance', `+ ${label}`, { [unit]: count }))}
</div>
${actionForm(
  'advance',
  {},
  html`${numberField('Months', 'months')}
${numberField('Days', 'days')}
${numberField('Hours', 'hours')}
${numberField('Minutes', 'minutes')}
<button type="submit">Move forward</button>`,
)}
${actionForm(
  'set-clock',
  {},
  html`<label class="wide">A point in time, UTC <input type="datetime-local" name="time" step="1" required></label>
<button type="submit">Set the clock</button>`,
)}`,
  )

const conditionOf = ({ when }: Fault): Html | undefined => {
  if (when === undefined) return undefined
  const fields = Object.entries(when).map(([name, value]) => `${name} is ${value}`)
  return html`, if ${typeof when === 'function' ? 'a function accepts the request' : foreign(fields.join(', '))}`
}

const faultRow = ({ number, fault, left }: PanelView['faults'][number]): Html => {
  const kind = fault.kind ?? 'sequence'
  const times = left === 'always' ? 'always' : `${left} more ${left === 1 ? 'time' : 'times'}`
  return html`<li id="fault-${number}">
<p class="heading">${pill(kind, 'waiting')} <strong>${foreign(fault.operation)}</strong> <span class="quiet">${times}${conditionOf(fault)}</span></p>
<div class="actions">${actionButton('remove-fault', 'Remove', { number }, `${kind} of ${fault.operation}`)}</div>
</li>`
}

const REMOVE_ALL = html`<li id="faults-clear"><div class="actions">${actionButton('clear-faults', 'Remove all')}</div></li>`

/** Preselects the fault `lost-response`, because it needs no other field, and every client must handle it. */
const kindOption = (kind: string): Html =>
  kind === 'lost-response' ? html`<option selected>${kind}</option>` : html`<option>${kind}</option>`

const faults = ({ faults: armed }: PanelView): Html =>
  card(
    'faults',
    html`Faults <span id="faults-count" class="count" data-live>${armed.length}</span>`,
    html`<ul id="faults" class="rows" data-live>
${armed.map(faultRow)}
${armed.length === 0 ? html`<li id="faults-none" class="quiet">No fault is set.</li>` : undefined}
${armed.length > 1 ? REMOVE_ALL : undefined}
</ul>
${actionForm(
  'fault',
  {},
  html`<label class="wide">Operation <select name="operation"><option value="*">every operation</option>${options(
    ['subscriptions.*', 'gateway.*', ...operations],
  )}</select></label>
<label class="wide">Fault <select name="kind">${faultKinds.map(kindOption)}</select></label>
<label>Times <input name="times" size="4" placeholder="1" autocomplete="off" aria-describedby="times-hint"></label>
${numberField('Status', 'status')}
${numberField('Latency, ms', 'latencyMs')}
<label class="wide">Only for msisdn <input name="when.msisdn" autocomplete="off" list="test-numbers"></label>
<label class="wide">Only for requestID <input name="when.requestID" autocomplete="off"></label>
<p class="quiet" id="times-hint">Times: a number, or always. The fault latency needs milliseconds.</p>
<button type="submit">Add</button>`,
)}`,
  )

const payersNumber = (): Html =>
  card(
    'numbers',
    'Payer’s number',
    actionForm(
      'behavior',
      {},
      html`<label class="wide">Number <input name="msisdn" type="tel" required autocomplete="off" list="test-numbers"></label>
<datalist id="test-numbers">${options(Object.values(testNumbers))}</datalist>
<label class="wide">Behavior <select name="behavior">${Object.entries(behaviors).map(
        ([name, { description }]) => html`<option value="${name}" title="${description}">${name}</option>`,
      )}</select></label>
<button type="submit">Set the behavior</button>`,
    ),
  )

const receiverRow = ({
  number,
  to = 'a function of the mock’s process',
  ...options
}: PanelView['receivers'][number]): Html => {
  const set = Object.entries(options).flatMap(([name, value]) =>
    value === undefined ? [] : `${name} ${JSON.stringify(value)}`,
  )
  return html`<li id="receiver-${number}">
<p class="heading"><strong>${foreign(to)}</strong> <span class="quiet">${foreign(set.join(', '))}</span></p>
<div class="actions">${actionButton('disconnect', 'Remove', { number }, `receiver ${to}`)}</div>
</li>`
}

const receivers = ({ receivers: connected }: PanelView): Html =>
  card(
    'receivers',
    html`Receivers <span id="receivers-count" class="count" data-live>${connected.length}</span>`,
    html`<ul id="receivers" class="rows" data-live>
${connected.map(receiverRow)}
${connected.length === 0 ? html`<li id="receivers-none" class="quiet">No receiver gets notifications.</li>` : undefined}
</ul>
${actionForm(
  'connect',
  {},
  html`<label class="wide">URL <input name="url" type="url" required placeholder="http://127.0.0.1:3000/hook"></label>
<label>Attempts <input name="retries" size="4" placeholder="1" autocomplete="off"></label>
<label>Duplicates <select name="duplicate"><option value="">never</option><option value="true">always</option></select></label>
<label class="wide">Key that signs <input name="signing.secret" autocomplete="off"></label>
<button type="submit">Connect</button>`,
)}
<details id="by-hand">
<summary>Send a notification by hand</summary>
${actionForm(
  'send',
  {},
  html`<label class="wide">Type <select name="type">${options(['SUBSCRIPTION', 'SUBSCRIPTION_PAYMENT'])}</select></label>
<label class="wide">Status <input name="status" required list="statuses" autocomplete="off"></label>
<datalist id="statuses">${options(['SUCCEEDED', 'CANCELLED', 'CANCELED', 'SUCCEEDED_PAYMENT', 'FAILED_PAYMENT'])}</datalist>
<label class="wide">subscriptionId <input name="subscriptionId" autocomplete="off"></label>
<label class="wide">paymentId <input name="paymentId" autocomplete="off"></label>
<button type="submit">Send</button>`,
)}
</details>`,
  )

const snapshots = ({ snapshots: saved }: PanelView): Html =>
  card(
    'snapshots',
    html`Snapshots <span id="snapshots-count" class="count" data-live>${saved.length}</span>`,
    html`<ul id="snapshots" class="rows" data-live>
${saved.map(
  ({ name, at }) => html`<li id="snapshot-${encodeURIComponent(name)}">
<p class="heading"><strong>${foreign(name)}</strong> <span class="quiet">${instant(at)}</span></p>
<div class="actions">${actionButton('restore-snapshot', 'Restore', { name }, name)}${actionButton('remove-snapshot', 'Remove', { name }, name)}</div>
</li>`,
)}
${saved.length === 0 ? html`<li id="snapshots-none" class="quiet">None yet.</li>` : undefined}
</ul>
${actionForm(
  'save-snapshot',
  {},
  html`<label class="wide">Name <input name="name" required autocomplete="off"></label>
<button type="submit">Save the state</button>`,
)}`,
  )

const AREAS = ['subscriptions', 'gateway'] as const

const service = ({ outages }: PanelView): Html =>
  card(
    'service',
    'Service',
    html`<div id="outages" data-live>
${AREAS.map((area) => {
  const isDown = outages.includes(area)
  return html`<div class="actions">
<p>${area} ${isDown ? pill('down', 'bad') : pill('up', 'good')}</p>
${isDown ? actionButton('end-outage', 'End the outage', { area }, area) : actionButton('start-outage', 'Start an outage', { area }, area)}
</div>`
})}
</div>
<div class="actions">
${actionButton('expire-tokens', 'Expire access tokens')}
${actionButton('revoke-tokens', 'Revoke all tokens')}
</div>
<details id="reset">
<summary>Reset the mock</summary>
<p class="quiet">Clears state, faults and logs, and resets clock, identifiers and limits. Saved snapshots stay.</p>
${actionButton('reset', 'Reset everything')}
</details>`,
  )

/** Renders the sections that control the mock. */
export const controls = (view: PanelView): Html => html`${clock(view)}
${faults(view)}
${payersNumber()}
${receivers(view)}
${snapshots(view)}
${service(view)}`
