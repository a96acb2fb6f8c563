import { documentOf, type Html, html, Html as Markup } from '../pages/html.ts'
import { hashSource } from '../pages/style.ts'
import { API_PAGE_PATH, OPENAPI_PATH, PANEL_PATH, STATE_PATH } from './access.ts'
import type { Outcome } from './actions.ts'
import { brief } from './components.ts'
import { controls } from './controls.ts'
import { lists } from './lists.ts'
import { machines } from './machines.ts'
import type { PanelQuery } from './paging.ts'
import { script } from './script.ts'
import { style } from './style.ts'
import type { PanelView } from './view.ts'

let policy: Promise<string> | undefined

/** Returns a Content-Security-Policy that allows the panel's own style and script, and requests to the mock. */
export const contentPolicy = (): Promise<string> => {
  policy ??= Promise.all([hashSource(style), hashSource(script)]).then(([styleSource, scriptSource]) =>
    [
      "default-src 'none'",
      `style-src ${styleSource}`,
      `script-src ${scriptSource}`,
      "connect-src 'self'",
      'img-src data:',
      "form-action 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
  )
  return policy
}

/** The parts of the page that do not show the mock's state. */
export interface PageExtras {
  readonly query: PanelQuery
  /** The card with the data that programs need to call the mock. */
  readonly connect: Html
  /** The result of the user's last action. */
  readonly notice: Outcome | undefined
  /** True if the page reloads itself in a browser without JavaScript. */
  readonly refreshes: boolean
}

const SECONDS = 5
/** The page truncates a notice to this length, because a long notice would cover a small window. */
const LONGEST_NOTICE = 300

const noticeOf = (notice: Outcome | undefined): Html => {
  const text = notice === undefined ? undefined : html`<p>${brief(notice.message, LONGEST_NOTICE)}</p>`
  return html`<div id="notice" role="status" class="${notice?.ok === false ? 'alert' : 'done'}">${text}</div>`
}

const refreshLinks = (refreshes: boolean): Html =>
  refreshes
    ? html`This page reloads every ${SECONDS} seconds. <a href="${PANEL_PATH}">Stop reloading</a>`
    : html`<a href="${PANEL_PATH}">Reload</a> · <a href="${PANEL_PATH}?refresh">Reload every ${SECONDS} seconds</a>`

const header = ({ notice, refreshes }: PageExtras): Html => html`<header>
<div class="bar">
<h1>Mock control panel</h1>
<p id="connection" class="live" hidden>Live</p>
<p class="mock">A mock for tests: no money moves.</p>
<nav aria-label="Sections of this page">
${['Connect', 'Subscriptions', 'Payments', 'Charges', 'Requests', 'Notifications', 'States'].map(
  (title) => html`<a href="#${title.toLowerCase()}-title">${title}</a>`,
)}
<a href="${STATE_PATH}">State as JSON</a>
<a href="${API_PAGE_PATH}">OpenAPI of the APIs</a>
<a href="${OPENAPI_PATH}">OpenAPI of this panel</a>
</nav>
<noscript><p class="quiet">${refreshLinks(refreshes)}</p></noscript>
</div>
${noticeOf(notice)}
</header>`

/** Renders the HTML document of the panel. */
export const panelPage = (view: PanelView, extras: PageExtras): string =>
  documentOf({
    title: 'Mock control panel',
    style,
    head: extras.refreshes
      ? html`<noscript><meta http-equiv="refresh" content="${SECONDS}"></noscript>`
      : undefined,
    body: html`${header(extras)}
<main class="columns">
<div class="controls">
${controls(view)}
</div>
<div>
${extras.connect}
${lists(view, extras.query)}
${machines(view, extras.query)}
</div>
</main>
<script>${new Markup(script)}</script>`,
  })
