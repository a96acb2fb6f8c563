import { testNumbers } from '../gateway/behaviors.ts'
import { documentOf, type Html, html, Html as Markup } from '../pages/html.ts'
import { hashSource } from '../pages/style.ts'
import { PANEL_PATH } from './access.ts'
import type { Outcome } from './actions.ts'
import { instant, isolate, truncate } from './components.ts'
import { script } from './script.ts'
import { style } from './style.ts'
import type { Context, PanelPage } from './timeline.ts'

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

/** The parts of a page that do not depend on the mock's state. */
export interface PageExtras {
  /** The path of the page, such as `charges/ch_1`. */
  readonly path: string
  /** The result of the user's last action. */
  readonly notice: Outcome | undefined
}

const TITLES = ['Overview', 'Subscriptions', 'Charges', 'Requests', 'Notifications', 'Faults', 'Connect']
/** The page truncates a notice to this length, because a long notice would cover a small window. */
const MAX_NOTICE_CHARACTERS = 300

const noticeOf = (notice: Outcome | undefined): Html => {
  const text =
    notice === undefined
      ? undefined
      : html`<p>${isolate(truncate(notice.message, MAX_NOTICE_CHARACTERS))}</p>`
  return html`<div id="notice" role="status" class="${notice?.ok === false ? 'alert' : 'done'}">${text}</div>`
}

const MOVES = ['1 hour', '1 day', '7 days', '15 days', '1 month']

const move = (length: string): Readonly<Record<string, string>> => {
  const [count = '', unit = ''] = length.split(' ')
  return { [unit.replace(/s?$/, 's')]: count }
}

const clock = ({ view, form }: Context): Html => html`<div class="clock" role="group" aria-label="Clock">
<p id="clock-now" data-live>${instant(view.now)} <small>UTC</small></p>
${form('next-event', 'To the next event')}
${MOVES.map((length) => form('advance', `+ ${length}`, { given: move(length), first: [] }))}
</div>`

const navigation = (path: string): Html => {
  const [section] = path.split('/')
  return html`<nav aria-label="Pages">${TITLES.map((title) => {
    const own = title === 'Overview' ? '' : title.toLowerCase()
    return html`<a href="${PANEL_PATH}${own && `/${own}`}"${own === section ? html` aria-current="page"` : undefined}>${title}</a>`
  })}</nav>`
}

const header = (context: Context, { path, notice }: PageExtras): Html => html`<header>
<div class="bar">
<p class="name">Mock control panel</p>
<p class="mock">A mock for tests: no money moves.</p>
<p id="connection" class="live" hidden>Live</p>
</div>
${navigation(path)}
${clock(context)}
${noticeOf(notice)}
</header>`

/** Renders the HTML document of a page. */
export const panelPage = (page: PanelPage, context: Context, extras: PageExtras): string => {
  const { title, subject, data, controls } = page
  return documentOf({
    title: `${truncate(subject === undefined ? title : `${title} ${subject}`, 60)} · Mock control panel`,
    style,
    body: html`${header(context, extras)}
<main>
<h1>${title}${subject === undefined ? undefined : html` ${isolate(truncate(subject, 60))}`}</h1>
<div class="columns${controls === undefined ? ' alone' : ''}">
<div>${data}</div>
${controls === undefined ? undefined : html`<div class="controls">${controls}</div>`}
</div>
</main>
<datalist id="test-numbers">${Object.values(testNumbers).map((number) => html`<option>${number}</option>`)}</datalist>
<script>${new Markup(script)}</script>`,
  })
}
