import { behaviors, testNumbers } from '../domain/gateway/behaviors.ts'
import { operations } from '../http/area.ts'
import { faultKinds } from '../http/fault-schema.ts'
import type { Html, HtmlValue } from '../pages/html.ts'
import { html } from '../pages/html.ts'
import { actionButton, actionForm, card, foreign, instant, pill } from './components.ts'
import type { ListedFault, PanelView } from './view.ts'

const MOVES: readonly (readonly [unit: 'hours' | 'days', count: number, label: string])[] = [
  ['hours', 1, '1 hour'],
  ['days', 1, '1 day'],
  ['days', 7, '7 days'],
  ['days', 15, '15 days'],
]

const options = (texts: readonly HtmlValue[]): readonly Html[] =>
  texts.map((text) => html`<option>${text}</option>`)

const numberField = (label: string, name: string): Html =>
  html`<label>${label} <input name="${name}" inputmode="decimal" size="4" autocomplete="off"></label>`

const FROZEN = html` The clock is frozen until you move it: payments, expiries, lockouts (403) and retries of notifications wait.`

const clock = ({ now, clockStandsStill }: PanelView): Html =>
  card(
    'clock',
    'Clock',
    html`<p class="clock"><span id="clock-now" data-live>${instant(now)}</span> <small>UTC</small></p>
<p class="quiet">Everything that becomes due runs in order, each at its due time.${clockStandsStill ? FROZEN : undefined} Moving the clock here does not expire tokens.</p>
<div class="moves" role="group" aria-label="Move the clock forward by">
${MOVES.map(([unit, count, label]) => actionButton('advance', `+ ${label}`, { [unit]: count }))}
</div>
${actionForm(
  'advance',
  {},
  html`${numberField('Days', 'days')}
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

const faultRow = ({ number, fault, left }: ListedFault): Html => {
  const kind = fault.kind ?? 'sequence'
  const times = left === 'always' ? 'always' : `${left} more ${left === 1 ? 'time' : 'times'}`
  return html`<li id="fault-${number}">
<p class="heading">${pill(kind, 'waiting')} <strong>${foreign(fault.operation)}</strong> <span class="quiet">${times}</span></p>
<div class="actions">${actionButton('remove-fault', 'Remove', { number }, `${kind} of ${fault.operation}`)}</div>
</li>`
}

const REMOVE_ALL = html`<li id="faults-clear"><div class="actions">${actionButton('clear-faults', 'Remove all')}</div></li>`

/** Preselects the fault `lost-response`: the fault needs no other field, and every client must handle it. */
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

const service = ({ outage }: PanelView): Html =>
  card(
    'service',
    'Service',
    html`<div class="actions" id="outage" data-live>
<p>Gateway ${outage ? pill('down', 'bad') : pill('up', 'good')}</p>
${outage ? actionButton('end-outage', 'End the outage') : actionButton('start-outage', 'Start an outage')}
</div>
<div class="actions">
${actionButton('expire-tokens', 'Expire access tokens')}
${actionButton('revoke-tokens', 'Revoke all tokens')}
</div>
<details id="reset">
<summary>Reset the mock</summary>
<p class="quiet">Clears state, faults and logs, and resets clock, identifiers and limits. Receivers stay connected.</p>
${actionButton('reset', 'Reset everything')}
</details>`,
  )

/** Renders the sections with the controls of the mock. */
export const controls = (view: PanelView): Html => html`${clock(view)}
${faults(view)}
${payersNumber()}
${service(view)}`
