import { FORM_TYPE, isForm } from '../http/exchange.ts'
import type { Answer, IncomingRequest } from '../http/response.ts'
import { jsonAnswer } from '../http/response.ts'
import { addressed, isOwnForm } from '../pages/csrf.ts'
import { commonHeaders } from '../pages/layout.ts'
import type { Mock } from '../types.ts'
import { isAddressedHere, PANEL_PATH, STATE_PATH } from './access.ts'
import type { Outcome } from './actions.ts'
import { act, readForm } from './actions.ts'
import { contentPolicy, panelPage } from './page.ts'
import { queryOf, readPlaces } from './paging.ts'
import { readView } from './view.ts'

const KEPT = 100

/** Keeps what became of the last actions, so that the page that follows one can tell it by its number. */
export interface Notices {
  /** Keeps an outcome; gives its number. */
  add(outcome: Outcome): number
  /** The outcome of a number as it stands in an address; `undefined` for one that is not kept. */
  of(number: string | null): Outcome | undefined
}

/** The text itself never stands in the address: nobody can make the panel say something by a link. */
export const createNotices = (): Notices => {
  const kept = new Map<string, Outcome>()
  let count = 0
  return {
    add(outcome) {
      count += 1
      kept.set(String(count), outcome)
      kept.delete(String(count - KEPT))
      return count
    },
    of: (number) => (number === null ? undefined : kept.get(number)),
  }
}

/** A request to the panel, as a server hands it over. */
export interface PanelRequest extends Omit<IncomingRequest, 'signal'> {
  /** The host by which the server was asked for: the Host header, or HTTP/2's `:authority`. */
  readonly host: string | null
}

/** Answers requests below `/_mock`; `undefined` for any other, which are the mock's own. */
export type Panel = (request: PanelRequest) => Promise<Answer> | undefined

const LARGEST_FORM = 16_384
const SHOWN = 50
const MOST_SHOWN = 10_000

/** Nobody else's page reads, frames or keeps what the panel answers. */
const COMMON: Readonly<Record<string, string>> = {
  ...commonHeaders,
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
}

const refusal = (
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Answer => ({
  status,
  headers: { 'Content-Type': 'text/plain; charset=utf-8', ...COMMON, ...headers },
  body: `${message}\n`,
})

const wantsJson = ({ headers }: PanelRequest): boolean =>
  (headers.get('accept') ?? '').includes('application/json')

const limitOf = (query: URLSearchParams): number => {
  const limit = Number(query.get('limit') ?? SHOWN)
  return Number.isInteger(limit) && limit >= 1 ? Math.min(limit, MOST_SHOWN) : SHOWN
}

/**
 * Makes the control panel of a mock.
 *
 * @param boundTo the host on which the server listens
 */
export const createPanel = (mock: Mock, boundTo: string): Panel => {
  const notices = createNotices()

  const show = async (query: URLSearchParams): Promise<Answer> => {
    const places = readPlaces(query)
    return {
      status: 200,
      headers: {
        'Content-Type': 'text/html; charset=utf-8',
        'Content-Security-Policy': await contentPolicy(),
        ...COMMON,
      },
      body: panelPage(readView(mock, SHOWN, places), {
        places,
        notice: notices.of(query.get('notice')),
        refreshes: query.has('refresh'),
      }),
    }
  }

  const submit = async (request: PanelRequest, query: URLSearchParams): Promise<Answer> => {
    const { headers, url, host } = request
    if (!isOwnForm({ headers, url: addressed(url, host) })) {
      return refusal(403, 'This was not sent from the panel itself.')
    }
    if (!isForm(headers.get('content-type'))) return refusal(415, `The panel takes ${FORM_TYPE}.`)
    const body = await request.text()
    if (body.length > LARGEST_FORM) return refusal(413, 'The form is too large.')
    const outcome = await act(mock, readForm(body))
    if (wantsJson(request)) return jsonAnswer(outcome.ok ? 200 : 409, outcome, COMMON)
    const next = queryOf(readPlaces(query))
    next.set('notice', String(notices.add(outcome)))
    return { status: 303, headers: { Location: `${PANEL_PATH}?${next}`, ...COMMON }, body: '' }
  }

  const answer = async (request: PanelRequest, path: string, query: URLSearchParams): Promise<Answer> => {
    if (!isAddressedHere(boundTo, request.host)) {
      return refusal(403, 'The panel answers under the names of this machine alone, such as localhost.')
    }
    const isReading = request.method === 'GET' || request.method === 'HEAD'
    if (path === STATE_PATH) {
      if (!isReading) return refusal(405, 'The state can be read.', { Allow: 'GET, HEAD' })
      return jsonAnswer(200, readView(mock, limitOf(query), readPlaces(query)), COMMON)
    }
    if (path !== PANEL_PATH && path !== `${PANEL_PATH}/`) return refusal(404, 'The panel has no such page.')
    if (isReading) return show(query)
    if (request.method === 'POST') return submit(request, query)
    return refusal(405, 'The panel can be read and its forms be sent.', { Allow: 'GET, HEAD, POST' })
  }

  return (request) => {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname !== PANEL_PATH && !pathname.startsWith(`${PANEL_PATH}/`)) return undefined
    return answer(request, pathname, searchParams)
  }
}
