import { behaviors, testNumbers } from '../domain/gateway/behaviors.ts'
import { operations } from '../http/area.ts'
import { faultKinds } from '../http/fault-schema.ts'
import type { Html } from '../pages/html.ts'
import { html } from '../pages/html.ts'
import { actionButton, actionForm, foreign, instant, pill } from './components.ts'
import type { ListedFault, PanelView } from './view.ts'

const MOVES: readonly (readonly [unit: 'hours' | 'days', count: number, label: string])[] = [
  ['hours', 1, '1 hour'],
  ['days', 1, '1 day'],
  ['days', 7, '7 days'],
  ['days', 15, '15 days'],
]

const clock = ({
  now,
  clockStandsStill,
}: PanelView): Html => html`<section class="card" aria-labelledby="clock-title">
<h2 id="clock-title">Clock</h2>
<p class="clock"><span id="clock-now" data-live>${instant(now)}</span> <small>UTC</small></p>
<p class="quiet">What falls due on the way happens, each at its own time.${
  clockStandsStill
    ? html` The clock stands still in between: payments, expiries, lockouts (403) and further tries of notifications wait until you move it.`
    : undefined
} Tokens outlive a move made here.</p>
<div class="moves" role="group" aria-label="Move the clock forward by">
${MOVES.map(([unit, count, label]) => actionButton('advance', `+ ${label}`, { [unit]: count }))}
</div>
${actionForm(
  'advance',
  {},
  html`<label>Days <input name="days" inputmode="decimal" size="4" autocomplete="off"></label>
<label>Hours <input name="hours" inputmode="decimal" size="4" autocomplete="off"></label>
<label>Minutes <input name="minutes" inputmode="decimal" size="4" autocomplete="off"></label>
<button type="submit">Move forward</button>`,
  'fields',
)}
${actionForm(
  'set-clock',
  {},
  html`<label class="wide">A point in time, UTC <input type="datetime-local" name="time" step="1" required></label>
<button type="submit">Set the clock</button>`,
  'fields',
)}
</section>`

const numbers = (): Html => html`<section class="card" aria-labelledby="numbers-title">
<h2 id="numbers-title">Payer’s number</h2>
${actionForm(
  'behavior',
  {},
  html`<label class="wide">Number <input name="msisdn" type="tel" required autocomplete="off" list="test-numbers"></label>
<datalist id="test-numbers">${Object.values(testNumbers).map((number) => html`<option value="${number}"></option>`)}</datalist>
<label class="wide">Behavior <select name="behavior">${Object.entries(behaviors).map(
    ([name, { description }]) => html`<option value="${name}" title="${description}">${name}</option>`,
  )}</select></label>
<button type="submit">Charges follow this</button>`,
  'fields',
)}
</section>`

const faultRow = ({ number, fault, left }: ListedFault): Html => {
  const kind = fault.kind ?? 'sequence'
  const often = left === 'always' ? 'always' : left === 1 ? 'once more' : `${left} times more`
  return html`<li id="fault-${number}">
<p class="heading">${pill(kind, 'waiting')} <strong>${foreign(fault.operation)}</strong> <span class="quiet">${often}</span></p>
<div class="actions">${actionButton('remove-fault', 'Remove', { number }, `${kind} of ${fault.operation}`)}</div>
</li>`
}

/** The one chosen at first works as it stands, and is the one that a client must survive. */
const faultOption = (kind: string): Html =>
  kind === 'lost-response' ? html`<option selected>${kind}</option>` : html`<option>${kind}</option>`

const faults = (view: PanelView): Html => html`<section class="card" aria-labelledby="faults-title">
<h2 id="faults-title" tabindex="-1">Faults <span id="faults-count" class="count" data-live>${view.faults.length}</span></h2>
<ul id="faults" class="rows" data-live data-rows>
${view.faults.map(faultRow)}
${view.faults.length === 0 ? html`<li id="faults-none" class="quiet">Nothing goes wrong on purpose.</li>` : undefined}
${
  view.faults.length > 1
    ? html`<li id="faults-clear"><div class="actions">${actionButton('clear-faults', 'Remove all')}</div></li>`
    : undefined
}
</ul>
${actionForm(
  'fault',
  {},
  html`<label class="wide">Operation <select name="operation">${[
    '*',
    'subscriptions.*',
    'gateway.*',
    ...operations,
  ].map(
    (operation) =>
      html`<option value="${operation}">${operation === '*' ? 'every operation' : operation}</option>`,
  )}</select></label>
<label class="wide">What goes wrong <select name="kind">${faultKinds.map(faultOption)}</select></label>
<label>Times <input name="times" size="4" placeholder="1" autocomplete="off" aria-describedby="times-hint"></label>
<label>Status <input name="status" inputmode="numeric" size="4" autocomplete="off"></label>
<label>Late by, ms <input name="latencyMs" inputmode="numeric" size="5" autocomplete="off"></label>
<p class="quiet" id="times-hint">Times: a number, or the word always. Latency needs its milliseconds.</p>
<button type="submit">Add</button>`,
  'fields',
)}
</section>`

const gateway = ({ outage }: PanelView): Html => html`<section class="card" aria-labelledby="service-title">
<h2 id="service-title">Service</h2>
<div class="actions" id="outage" data-live>
<p>Gateway ${outage ? pill('out of reach', 'bad') : pill('reachable', 'good')}</p>
${outage ? actionButton('end-outage', 'End the outage') : actionButton('start-outage', 'Start an outage')}
</div>
<div class="actions">
${actionButton('expire-tokens', 'Expire access tokens')}
${actionButton('revoke-tokens', 'Revoke all tokens')}
</div>
<details id="reset">
<summary>Reset the mock</summary>
<p class="quiet">State, clock, identifiers, limits, faults and logs are as new. Receivers stay connected.</p>
${actionButton('reset', 'Reset everything')}
</details>
</section>`

/** What drives the mock: clock, payer's numbers, faults, service. */
export const controls = (view: PanelView): Html => html`${clock(view)}
${faults(view)}
${numbers()}
${gateway(view)}`
