import { newRecent, recentList } from '../base/recent-list.ts'
import { attempt } from '../base/result.ts'
import {
  FORM_TYPE,
  type HeaderFields,
  type IncomingRequest,
  isForm,
  isJson,
  jsonResponse,
  type ResponseData,
} from '../http/message.ts'
import { decoded } from '../http/routes.ts'
import { isOwnForm } from '../pages/csrf.ts'
import { html } from '../pages/html.ts'
import { commonHeaders, documentResponse, pageResponse } from '../pages/layout.ts'
import type { Mock } from '../types.ts'
import { OPENAPI_PATH, PANEL_PATH, type ReadHost, STATE_PATH } from './access.ts'
import { readFields } from './action.ts'
import { act } from './actions.ts'
import { faultsPage, overviewPage } from './boards.ts'
import { connectPage } from './connect.ts'
import { createForms, type Notice, noticeOf } from './form.ts'
import { pageOf } from './list.ts'
import { charges, chargesPage, subscriptions, subscriptionsPage } from './objects.ts'
import { type Context, type PanelPage, panelDocument } from './page.ts'
import { notifications, notificationsPage, requests, requestsPage } from './traffic.ts'
import { readQuery, readView } from './view.ts'

const KEPT_NOTICES = 100

/** Headers that stop other origins from reading or framing the panel, and stop caches from storing it. */
const COMMON: HeaderFields = {
  ...commonHeaders,
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
}

const acceptsPage = ({ headers }: IncomingRequest): boolean =>
  headers.get('accept')?.includes('text/html') === true

/** Responds with an error: a page for a browser, JSON for a program. */
const refusal = async (
  request: IncomingRequest,
  status: number,
  message: string,
  headers: HeaderFields = {},
): Promise<ResponseData> => {
  const sent = { ...COMMON, ...headers }
  if (!acceptsPage(request)) return jsonResponse(status, { ok: false, message }, sent)
  const content = html`<p>${message}</p>
<p><a class="button" href="${PANEL_PATH}">Open the overview</a></p>`
  return pageResponse({ status, title: 'Mock control panel', content }, sent)
}

type ShowAll = (context: Context) => PanelPage
type ShowOne = (context: Context, id: string) => PanelPage | undefined

/**
 * The pages of the panel, by the first part of their path below the panel's. `one` is the page of one object, so
 * `/_mock/charges/ch_1` is rendered by `pageOf(charges)`.
 */
const PAGES = new Map<string, readonly [all: ShowAll, one?: ShowOne]>([
  ['', [overviewPage]],
  ['subscriptions', [subscriptionsPage, pageOf(subscriptions)]],
  ['charges', [chargesPage, pageOf(charges)]],
  ['requests', [requestsPage, pageOf(requests)]],
  ['notifications', [notificationsPage, pageOf(notifications)]],
  ['faults', [faultsPage]],
  ['connect', [connectPage]],
])

const GONE: PanelPage = {
  title: 'Not found',
  data: { 'What happened': 'The mock has nothing with this identifier. A reset may have deleted it.' },
}

const SHOWN = 50
const MAX_SHOWN = 10_000

const limitOf = (query: URLSearchParams): number => {
  const limit = Number(query.get('limit') ?? SHOWN)
  return Number.isInteger(limit) && limit >= 1 ? Math.min(limit, MAX_SHOWN) : SHOWN
}

/**
 * Responds to a request for the panel.
 *
 * @param host the host in the request: the Host header, or `:authority` in HTTP/2
 */
export type Panel = (request: IncomingRequest, host: string | null) => Promise<ResponseData>

/** Creates the control panel of a mock. The panel refuses a request if `readHost` refuses its host. */
export const createPanel = (mock: Mock, readHost: ReadHost): Panel => {
  // The URL of the panel contains the number of a message instead of its text, so a malicious link cannot make the
  // panel show a false message.
  const kept = newRecent<Notice>()
  const notices = recentList(KEPT_NOTICES, () => kept)

  /** Executes the action that a form or a program sent. `path` is the page with the form. */
  const submit = async (request: IncomingRequest, path: string): Promise<ResponseData> => {
    const { headers, url } = request
    const type = headers.get('content-type')
    // A page of another site cannot send JSON without a preflight request, which the panel refuses.
    const sendsJson = isJson(type)
    if (!sendsJson && !isForm(type))
      return refusal(request, 415, `The panel accepts ${FORM_TYPE} and JSON only.`)
    const body = await request.text()
    const sent = attempt(() => readFields(body, sendsJson), undefined)
    if (sent === undefined) return refusal(request, 400, 'The body is not valid JSON.')
    const outcome = await act(mock, sent, !sendsJson)
    if (sendsJson || headers.get('accept')?.includes('application/json')) {
      const { ok, message } = outcome
      return jsonResponse(ok ? 200 : 409, { ok, message }, COMMON)
    }
    notices.push(noticeOf(outcome))
    const next = outcome.page === undefined ? readQuery(new URL(url).searchParams) : new URLSearchParams()
    next.set('notice', String(notices.bounds().end))
    const location = `${[PANEL_PATH, outcome.page ?? path].filter(Boolean).join('/')}?${next}`
    return { status: 303, headers: { Location: location, ...COMMON }, body: '' }
  }

  return async (request, host) => {
    const { method, server } = request
    const { pathname, searchParams } = new URL(request.url)
    const addressed = readHost(host)
    if (addressed === undefined) {
      // The status is not 421, because the Fetch standard makes clients resend a request after status 421.
      const message =
        'The panel does not accept this host name. Open the panel at an IP address or at localhost, or allow the name with allowedHosts or --allow-host.'
      return jsonResponse(403, { ok: false, message }, COMMON)
    }
    const isRead = method === 'GET' || method === 'HEAD'
    const base = server?.publicUrl ?? addressed
    const query = readQuery(searchParams)
    if (pathname === STATE_PATH || pathname === OPENAPI_PATH) {
      if (!isRead) return refusal(request, 405, 'This path accepts GET only.', { Allow: 'GET, HEAD' })
      const body =
        pathname === STATE_PATH
          ? readView(mock, limitOf(query), query)
          : (await import('./openapi.ts')).openApiOf(base)
      return jsonResponse(200, body, COMMON)
    }
    const path = pathname.slice(PANEL_PATH.length).replace(/^\/|\/$/g, '')
    const [section = '', id, ...more] = path.split('/')
    const [all, one] = PAGES.get(section) ?? []
    if ((id === undefined ? all : one) === undefined || more.length > 0) {
      return refusal(request, 404, 'The panel has no such page.')
    }
    if (method === 'POST') {
      if (isOwnForm(request, host)) return submit(request, path)
      return refusal(request, 403, 'This form was not sent from the panel itself.')
    }
    if (!isRead) {
      return refusal(request, 405, 'The panel accepts GET and POST only.', { Allow: 'GET, HEAD, POST' })
    }
    const number = Number(searchParams.get('notice'))
    const [notice] = notices.read(number - 1, number)
    const context = { mock, view: readView(mock, SHOWN, query), query, form: createForms(notice), base }
    const page = id === undefined ? all?.(context) : one?.(context, decoded(id))
    const document = panelDocument(page ?? GONE, context, PAGES.keys(), section, notice)
    return documentResponse(page === undefined ? 404 : 200, document, "'self'", COMMON)
  }
}
