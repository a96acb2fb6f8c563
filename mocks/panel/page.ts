import { testNumbers } from '../gateway/behaviors.ts'
import { type Document, type Html, html } from '../pages/html.ts'
import type { Mock } from '../types.ts'
import { PANEL_PATH } from './access.ts'
import { type Cards, capitalized, cardsOf, instant, isolate, truncate } from './components.ts'
import type { Notice, RenderForm } from './form.ts'
import { script } from './script.ts'
import { style } from './style.ts'
import type { PanelView } from './view.ts'

export interface Context {
  readonly mock: Mock
  readonly view: PanelView
  readonly query: URLSearchParams
  readonly form: RenderForm
  /** The base URL of the server. */
  readonly base: string
}

/** A page of the panel: the data first, and beside it, or below it on a phone, the controls. */
export interface PanelPage {
  readonly title: string
  /** What the title names: the identifier of the page's object, or text from a client, which may be cut. */
  readonly subject?: string
  readonly data: Cards
  readonly controls?: Cards
}

/** The page truncates a notice to this length, because a long notice would cover a small window. */
const MAX_NOTICE_CHARACTERS = 300

const MOVES = {
  '+ 1 hour': { hours: 1 },
  '+ 1 day': { days: 1 },
  '+ 7 days': { days: 7 },
  '+ 15 days': { days: 15 },
  '+ 1 month': { months: 1 },
}

const clock = ({ view, form }: Context): Html => html`<div class="clock" role="group" aria-label="Clock">
<p id="clock-now" data-live>${instant(view.now)} <small>UTC</small></p>
${form('next-event', 'To the next event')}
${Object.entries(MOVES).map(([label, given]) => form('advance', label, { given, first: [] }))}
</div>`

const link = (section: string, isPresent: boolean): Html =>
  html`<a href="${PANEL_PATH}${section && `/${section}`}"${isPresent && html` aria-current="page"`}>${capitalized(section || 'overview')}</a>`

/** Renders a page with links to all sections, of which `present` is the page's own. */
export const panelDocument = (
  { title, subject = '', data, controls }: PanelPage,
  context: Context,
  sections: Iterable<string>,
  present: string,
  notice: Notice | undefined,
): Document => ({
  title: `${truncate(`${title} ${subject}`.trim(), 60)} · Mock control panel`,
  style,
  script,
  body: html`<header>
<div class="bar">
<p class="name">Mock control panel</p>
<p class="mock">A mock for tests: no money moves.</p>
<p id="connection" class="live" hidden>Live</p>
</div>
<nav aria-label="Pages">${[...sections].map((section) => link(section, section === present))}</nav>
${clock(context)}
<div id="notice" role="status" class="${notice?.ok === false ? 'alert' : 'done'}">${notice && html`<p>${isolate(notice.message, MAX_NOTICE_CHARACTERS)}</p>`}</div>
</header>
<main>
<h1>${title}${subject && html` ${isolate(subject, 60)}`}</h1>
<div class="columns${controls === undefined && ' alone'}">
<div>${cardsOf(data)}</div>
${controls && html`<div class="controls">${cardsOf(controls)}</div>`}
</div>
</main>
<datalist id="known-numbers">${Object.values(testNumbers).map((number) => html`<option>${number}</option>`)}</datalist>`,
})
