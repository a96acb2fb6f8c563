import type { Html } from '../pages/html.ts'
import { documentOf, html, Html as Markup } from '../pages/html.ts'
import { hashSource } from '../pages/style.ts'
import { PANEL_PATH, STATE_PATH } from './access.ts'
import type { Outcome } from './actions.ts'
import { brief } from './components.ts'
import { controls } from './controls.ts'
import { stateLists, trafficLists } from './lists.ts'
import type { Places } from './paging.ts'
import { script } from './script.ts'
import { style } from './style.ts'
import type { PanelView } from './view.ts'

/** What else a page shows, besides the state. */
export interface PageExtras {
  readonly places: Places
  /** What became of the action that led here. */
  readonly notice: Outcome | undefined
  /** Whether the page loads itself again and again, for browsers that run no script. */
  readonly refreshes: boolean
}

const SECONDS = 5
/** A notice stays in sight, above everything else: it must not fill a small window. */
const LONGEST_NOTICE = 300

let policy: Promise<string> | undefined

/** The page's own style and script and nothing else; requests and forms go to the mock alone. */
export const contentPolicy = (): Promise<string> => {
  policy ??= Promise.all([hashSource(style), hashSource(script)]).then(([styles, scripts]) =>
    [
      "default-src 'none'",
      `style-src ${styles}`,
      `script-src ${scripts}`,
      "connect-src 'self'",
      'img-src data:',
      "form-action 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
  )
  return policy
}

const told = (notice: Outcome | undefined): Html =>
  html`<div id="notice" role="status" class="${notice?.ok === false ? 'alert' : 'done'}">${notice === undefined ? undefined : html`<p>${brief(notice.message, LONGEST_NOTICE)}</p>`}</div>`

const withoutScript = ({ refreshes }: PageExtras): Html =>
  html`<noscript><p class="quiet">${
    refreshes
      ? html`This page loads itself every ${SECONDS} seconds. <a href="${PANEL_PATH}">Stop that</a>`
      : html`<a href="${PANEL_PATH}">Load again</a> · <a href="${PANEL_PATH}?refresh">Load every ${SECONDS} seconds</a>`
  }</p></noscript>`

const heading = (extras: PageExtras): Html => html`<header>
<div class="bar">
<h1>Mock control panel</h1>
<p id="connection" class="live" hidden>Live</p>
<p class="mock">A mock for tests: no money moves.</p>
<nav aria-label="Parts of this page">
${['Subscriptions', 'Payments', 'Charges', 'Requests', 'Notifications'].map(
  (part) => html`<a href="#${part.toLowerCase()}-title">${part}</a>`,
)}
<a href="${STATE_PATH}">State as JSON</a>
</nav>
${withoutScript(extras)}
</div>
${told(extras.notice)}
</header>`

/** The whole document. */
export const panelPage = (view: PanelView, extras: PageExtras): string =>
  documentOf({
    title: 'Mock control panel',
    style,
    head: extras.refreshes
      ? html`<noscript><meta http-equiv="refresh" content="${SECONDS}"></noscript>`
      : undefined,
    body: html`${heading(extras)}
<main class="columns">
<div class="controls">
${controls(view)}
</div>
<div>
${stateLists(view, extras.places)}
</div>
<div>
${trafficLists(view, extras.places)}
</div>
</main>
<script>${new Markup(script)}</script>`,
  })
