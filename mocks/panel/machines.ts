import { chargeTransitions } from '../gateway/state.ts'
import { type Html, html } from '../pages/html.ts'
import {
  cancellationTransitions,
  requestTransitions,
  subscriptionTransitions,
} from '../subscriptions/state.ts'
import { card } from './components.ts'
import type { PanelQuery } from './paging.ts'
import type { PanelView, ShownStates } from './view.ts'

type Table = Readonly<Record<string, Readonly<Record<string, string>>>>

const MACHINES: readonly (readonly [kind: keyof ShownStates, title: string, table: Table])[] = [
  ['request', 'Subscription request', requestTransitions],
  ['subscription', 'Subscription', subscriptionTransitions],
  ['cancellation', 'Cancellation', cancellationTransitions],
  ['charge', 'Charge', chargeTransitions],
]

/** An arrow from one state to another, with all events that cause this transition. */
interface Arrow {
  readonly from: string
  readonly to: string
  readonly events: string
}

const arrowsOf = (table: Table): readonly Arrow[] =>
  Object.entries(table).flatMap(([from, moves]) =>
    [...new Set(Object.values(moves))].map((to) => ({
      from,
      to,
      events: Object.keys(moves)
        .filter((event) => moves[event] === to)
        .join(', '),
    })),
  )

const BOX = 164
const COLUMN = BOX + 112
const LINE = 18
const GAP = 14

/** Places each state one column after its rightmost predecessor. A state with more incoming arrows has a taller box. */
const layoutOf = (table: Table) => {
  const arrows = arrowsOf(table)
  const columnOf = (state: string): number =>
    Math.max(-1, ...arrows.filter(({ to }) => to === state).map(({ from }) => columnOf(from))) + 1
  const heights: number[] = []
  const boxes = new Map(
    Object.keys(table).map((state) => {
      const column = columnOf(state)
      const y = heights[column] ?? GAP
      const height = LINE * Math.max(1, arrows.filter(({ to }) => to === state).length) + 8
      heights[column] = y + height + GAP
      // Column 0 is narrow: it contains only the first state, `none`, which is drawn as a dot.
      return [state, { x: column === 0 ? 8 : column * COLUMN - BOX + 16, y, height }]
    }),
  )
  return { arrows, boxes, width: heights.length * COLUMN - COLUMN + 24, height: Math.max(...heights) }
}

const drawing = (title: string, table: Table, present: string | undefined): Html => {
  const { arrows, boxes, width, height } = layoutOf(table)
  const used = new Map<string, number>()
  const arrow = ({ from, to, events }: Arrow): Html | undefined => {
    const [start, end] = [boxes.get(from), boxes.get(to)]
    if (start === undefined || end === undefined) return undefined
    const line = used.get(to) ?? 0
    used.set(to, line + 1)
    const [x, y] = from === 'none' ? [start.x + 6, start.y + 13] : [start.x + BOX, start.y + start.height / 2]
    const [toX, toY] = [end.x - 2, end.y + 4 + LINE * (line + 0.5)]
    return html`<path d="M${x} ${y}C${x + 50} ${y} ${toX - 90} ${toY} ${toX} ${toY}" marker-end="url(#arrow)"/><text class="event" x="${toX - 8}" y="${toY - 4}">${events}</text>`
  }
  const box = (state: string): Html | undefined => {
    const at = boxes.get(state)
    if (at === undefined) return undefined
    if (state === 'none') return html`<circle cx="${at.x}" cy="${at.y + 13}" r="6"/>`
    return html`<g class="${state === present ? 'present' : ''}"><rect x="${at.x}" y="${at.y}" width="${BOX}" height="${at.height}" rx="8"/><text x="${at.x + BOX / 2}" y="${at.y + at.height / 2 + 4}">${state}</text></g>`
  }
  const words = arrows.map(({ from, to, events }) => `${from} to ${to}: ${events}`).join('; ')
  return html`<figure>
<figcaption>${title}${present === undefined ? undefined : html`: <strong>${present}</strong>`}</figcaption>
<div class="drawing" tabindex="0" role="group" aria-label="${title}">
<svg role="img" aria-label="${present === undefined ? '' : `Present state: ${present}. `}${words}" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">${arrows.map(arrow)}${Object.keys(table).map(box)}</svg>
</div>
</figure>`
}

/** Renders the state machines from the transition tables that the mock itself uses. */
export const machines = ({ shown }: PanelView, query: PanelQuery): Html => {
  const isShown = Object.values(shown).some((state) => state !== undefined)
  return card(
    'states',
    'States',
    html`<svg class="heard" aria-hidden="true"><defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8Z"/></marker></defs></svg>
<div id="states" data-live>
<p class="quiet">${isShown ? `The present states of ${query.get('show')} are marked.` : 'The mock allows only these transitions. To mark the present states of a subscription or charge, use the link States in its row.'}</p>
${MACHINES.filter(([kind]) => !isShown || shown[kind] !== undefined).map(([kind, title, table]) => drawing(title, table, shown[kind]))}
</div>`,
  )
}
