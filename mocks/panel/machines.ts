import { type Html, html } from '../pages/html.ts'
import { wrappable } from './components.ts'

type Transitions = Readonly<Record<string, Readonly<Record<string, string>>>>

/** Returns how many transitions lead to a state at most: the column in which it is drawn. */
const columnOf = (table: Transitions, state: string): number =>
  Math.max(
    -1,
    ...Object.keys(table)
      .filter((from) => Object.values(table[from] ?? {}).includes(state))
      .map((from) => columnOf(table, from)),
  ) + 1

/** Renders a state machine from the mock's own table of transitions: a column for each step, the present state marked. */
export const machine = (title: string, table: Transitions, present: string | undefined): Html => {
  const states = Object.keys(table).filter((state) => state !== 'none')
  const columns = Math.max(...states.map((state) => columnOf(table, state)))
  const box = (state: string): Html => {
    const ways = Object.entries(table).flatMap(([from, moves]) => {
      const events = Object.keys(moves).filter((event) => moves[event] === state)
      return events.length === 0 ? [] : [`${events.join(', ')}${from === 'none' ? '' : ` from ${from}`}`]
    })
    const isPresent = state === present
    return html`<li class="${isPresent ? 'present' : ''}"${isPresent ? html` aria-current="step"` : undefined}><strong>${wrappable(state)}</strong>${isPresent ? html` <em>now</em>` : undefined}<small>${ways.map((way, index) => [index > 0 ? '; ' : '', wrappable(way)])}</small></li>`
  }
  return html`<figure class="machine"><figcaption>${title}</figcaption>
<div class="steps">${Array.from({ length: columns }, (_, column) => html`<ul>${states.filter((state) => columnOf(table, state) === column + 1).map(box)}</ul>`)}</div>
</figure>`
}
