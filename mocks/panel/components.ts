import { attempt } from '../base/result.ts'
import { type Html, type HtmlValue, html } from '../pages/html.ts'

const TONES = {
  good: /^(SUCCEEDED(_PAYMENT)?|ACTIVE|PROCESSED|delivered|paid|succeeded|up|[12]\d\d)$/,
  waiting: /^(INITIALIZED|PENDING|PROCESSING|reversed|pending_.*|waits.*)$/,
  bad: /^(FAILED(_PAYMENT)?|EXPIRED|CANCELLED|VOID|failed|expired|down|no response|fault.*|[45]\d\d)$/,
  plain: /^/,
}

/** Renders states as labels. The color of a label tells whether the state is good, waiting or bad. */
export const badge = (...states: readonly (string | number | false | undefined)[]): Html => {
  const labels = states.flatMap((state) => {
    const [tone] = Object.entries(TONES).find(([, known]) => known.test(String(state))) ?? []
    return state === undefined || state === false ? [] : html`<span class="badge ${tone}">${state}</span> `
  })
  return html`${labels}`
}

export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

export const visuallyHidden = (text: string): Html => html`<span class="visually-hidden"> ${text}</span>`

// The mock's own identifiers are shorter than this, so they are never truncated.
const MAX_TEXT_CHARACTERS = 100

/** Truncates long text from a client, because long text would push other content out of view. */
export const truncate = (text: string | number, longest = MAX_TEXT_CHARACTERS): string => {
  const characters = [...String(text)]
  return characters.length > longest ? `${characters.slice(0, longest).join('')}…` : String(text)
}

/** Keeps a word, which a browser may break after "-", "/" and "?", on one line. Longer words may be broken. */
const wrappable = (text: string): readonly HtmlValue[] =>
  text.split(/(\s+)/).map((word) => {
    if (word.length < 30) return /[-/?]/.test(word) ? html`<span class="word">${word}</span>` : word
    const parts = word.split(/(?<=[._/?&=:-])(?=[a-z])/i)
    return parts.map((part, index) => [index > 0 && html`<wbr>`, part])
  })

/** Renders text from a client, which may be long or written from right to left. A longer word is cut with "…". */
export const isolate = (text: string | number, longest = MAX_TEXT_CHARACTERS): Html =>
  html`<bdi>${wrappable(truncate(text, longest))}</bdi>`

/** Renders an identifier, whose middle the style replaces with "…". It can still be selected as a whole. */
const shortened = (text: string): Html => {
  const [, start = text, middle, end] = /^(.{9})(.{4,})(.{5})$/su.exec(text) ?? []
  return html`<bdi title="${text}">${start}${middle && html`<span class="middle">${middle}</span>`}${end}</bdi>`
}

/** Renders a button that copies a text. It is visible only with a script. */
export const copyButton = (text: string, name: string, label = 'Copy'): Html =>
  html`<button type="button" class="copy" data-copy="${text}">${label}${visuallyHidden(name)}</button>`

/** Renders an identifier, which is shortened in the middle, with a button that copies it. */
export const identifier = (text: string, name: string): Html =>
  html`<span class="id">${shortened(text)}${copyButton(text, name)}</span>`

/** Renders a link to the page of an object, or nothing if the object has no identifier. */
export const linkTo = (section: string, id = '', text = id, of = ''): Html | undefined =>
  id === ''
    ? undefined
    : html`<a class="link" href="/_mock/${section}/${encodeURIComponent(id)}">${shortened(text)}${of && visuallyHidden(of)}</a>`

/** Renders a point in time in UTC, without fractions of a second. */
export const instant = (time: string | number | Date): Html => {
  const iso = new Date(time).toISOString()
  return html`<time datetime="${iso}">${iso.slice(0, 19).replace('T', ' ')}</time>`
}

/** The sections of a page by their headings. A list also has the number of its items. */
export type Cards = Readonly<Record<string, HtmlValue | { readonly count: number; readonly list: HtmlValue }>>

/** Renders sections. The script updates a section when it changes. */
export const cardsOf = (cards: Cards): readonly Html[] =>
  Object.entries(cards).map(([title, content]) => {
    const id = title.toLowerCase().replaceAll(' ', '-')
    const [count, body] =
      typeof content === 'object' && 'list' in content
        ? [html` <span id="${id}-count" class="count">${content.count}</span>`, content.list]
        : [undefined, content]
    return html`<section id="${id}" aria-labelledby="${id}-title" data-live>
<h2 id="${id}-title" tabindex="-1">${title}${count}</h2>
${body}
</section>`
  })

/** Renders items one below the other, or a text if there is none. */
export const rows = (items: readonly HtmlValue[], none: HtmlValue): Html =>
  items.length === 0
    ? html`<p class="quiet">${none}</p>`
    : html`<ul class="rows">${items.map((item) => html`<li>${item}</li>`)}</ul>`

export const actionsOf = (...content: readonly HtmlValue[]): Html =>
  html`<div class="actions">${content}</div>`

/** Renders JSON or text with a heading, or nothing if the value is `undefined`. */
export const json = (name: string, value: unknown): Html | undefined => {
  if (value === undefined) return undefined
  const read = typeof value === 'string' ? attempt<unknown>(() => JSON.parse(value), value) : value
  const text = typeof read === 'string' ? read : JSON.stringify(read, null, 2)
  return html`<p class="quiet">${name}</p><pre tabindex="0" role="group" aria-label="${name}">${text}</pre>`
}

type Transitions = Readonly<Record<string, Readonly<Record<string, string>>>>

/** Returns how many transitions lead to a state at most: the column in which it is drawn. */
const columnOf = (table: Transitions, state: string): number => {
  const before = Object.keys(table).filter((from) => Object.values(table[from] ?? {}).includes(state))
  return Math.max(-1, ...before.map((from) => columnOf(table, from))) + 1
}

/**
 * Renders a state machine from the mock's own table of transitions: a column for each step, the current state marked.
 */
export const machine = (title: string, table: Transitions, present: string): Html => {
  const box = (state: string): Html => {
    const moves = Object.values(table).flatMap(Object.entries<string>)
    const events = moves.flatMap(([event, to]) => (to === state ? event : []))
    const now = state === present
    return html`<li${now && html` class="present" aria-current="step"`}><strong>${wrappable(state)}</strong>${now && html` <em>now</em>`}<small>${[...new Set(events)].join(', ')}</small></li>`
  }
  const states = Object.keys(table).filter((state) => state !== 'none')
  const columns = [...new Set(states.map((state) => columnOf(table, state)))].sort()
  return html`<figure class="machine"><figcaption>${title}</figcaption>
<div class="steps">${columns.map((column) => html`<ul>${states.filter((state) => columnOf(table, state) === column).map(box)}</ul>`)}</div>
</figure>`
}
