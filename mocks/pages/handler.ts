import type { GatewayDomain } from '../domain/gateway/types.ts'
import type { SubscriptionsDomain } from '../domain/subscriptions/types.ts'
import { FORM_TYPE, isForm } from '../http/exchange.ts'
import type { PageHandler } from '../http/handler.ts'
import { answerOf } from '../http/response.ts'
import { authorizationPage, isOpen } from './authorization.ts'
import { confirmationPage } from './confirmation.ts'
import { addressed, isOwnForm } from './csrf.ts'
import type { Page } from './layout.ts'
import { messagePage, pageResponse, redirectResponse, returnTarget } from './layout.ts'

/** The areas whose pages there are. */
export type PageArea = 'subscriptions' | 'gateway'

/** The parts of a `Request` that the pages read. Every `Request` is one. */
export interface PageRequest {
  readonly method: string
  /** Absolute. */
  readonly url: string
  readonly headers: { get(name: string): string | null }
  text(): Promise<string>
}

/**
 * Answers a request for a page; `undefined` when the path, which is the one below the area's base URL, is none of a
 * page's. A form that another site sent is refused, and so is a body that is not a form's.
 */
export type Pages = (request: PageRequest, path: string, area: PageArea) => Promise<Response | undefined>

/** One page: how it looks, and what its form does. `undefined`: send the payer back to the merchant. */
interface Route {
  readonly area: PageArea
  readonly pattern: RegExp
  readonly show: (id: string) => Page
  readonly submit: (id: string, form: URLSearchParams) => Page | Response
}

const unknownPage = messagePage(
  404,
  'Page not found',
  'There is no request under this address. It may be from before the mock was reset.',
)
const undecidedPage = messagePage(400, 'Nothing was chosen', 'Go back and choose to authorize or to decline.')
const foreignPage = messagePage(
  403,
  'Request refused',
  'This form was not sent from its own page. Open the page from the merchant again.',
)
const methodPage = messagePage(405, 'Method not allowed', 'This page can be read and its form be sent.')
const formPage = messagePage(415, 'Request refused', `The form of this page is sent as ${FORM_TYPE}.`)

const createRoutes = (subscriptions: SubscriptionsDomain, gateway: GatewayDomain): readonly Route[] => {
  const authorization = (id: string): Page => {
    const view = subscriptions.authorization(id)
    return view.ok ? authorizationPage(view.value) : unknownPage
  }
  const confirmation = (id: string, wrongCode = false): Page => {
    const view = gateway.confirmation(id)
    return view.ok ? confirmationPage(view.value, wrongCode) : unknownPage
  }
  /** Back to the merchant; where that cannot be, the page shows what was decided. */
  const onward = (address: string, page: () => Page): Page | Response => {
    const target = returnTarget(address)
    return target === undefined ? page() : redirectResponse(target)
  }
  /** A page that was open is not any more: what was sent did not count. */
  const tooLate = (page: Page): Page => (page.status === 200 ? { ...page, status: 409 } : page)

  return [
    {
      area: 'subscriptions',
      pattern: /^\/authorize\/([^/]+)\/?$/,
      show: authorization,
      submit(id, form) {
        const decision = form.get('decision')
        if (decision !== 'authorize' && decision !== 'decline') {
          const view = subscriptions.authorization(id)
          return view.ok && isOpen(view.value) ? undecidedPage : tooLate(authorization(id))
        }
        const result = decision === 'authorize' ? subscriptions.authorize(id) : subscriptions.decline(id)
        if (!result.ok) return tooLate(authorization(id))
        return onward(result.value.returnUrl, () => authorization(id))
      },
    },
    {
      area: 'gateway',
      pattern: /^\/confirm\/([^/]+)\/?$/,
      show: confirmation,
      submit(id, form) {
        const view = gateway.confirmation(id)
        if (!view.ok) return unknownPage
        // Codes are read aloud and pasted in groups.
        const otp = (form.get('otp') ?? '').replace(/\s/g, '')
        const result = gateway.confirm(id, { otp })
        if (result.ok) return onward(view.value.redirectUri, () => confirmation(id))
        return result.refusal.reason === 'incorrect_code' ? confirmation(id, true) : tooLate(confirmation(id))
      },
    },
  ]
}

const decoded = (segment: string): string | undefined => {
  try {
    return decodeURIComponent(segment)
  } catch {
    // Not well-formed: no identifier can look like this.
    return undefined
  }
}

/** Makes the hosted pages of both areas: `/authorize/{invoiceId}` and `/confirm/{confirmationId}`. */
export const createPages = (domains: {
  readonly subscriptions: SubscriptionsDomain
  readonly gateway: GatewayDomain
}): Pages => {
  const routes = createRoutes(domains.subscriptions, domains.gateway)

  const answer = async (route: Route, segment: string, request: PageRequest): Promise<Response> => {
    const id = decoded(segment)
    if (request.method === 'GET' || request.method === 'HEAD') {
      const response = await pageResponse(id === undefined ? unknownPage : route.show(id))
      return request.method === 'GET' ? response : new Response(null, response)
    }
    if (request.method !== 'POST') return pageResponse(methodPage, { Allow: 'GET, HEAD, POST' })
    if (!isOwnForm(request)) return pageResponse(foreignPage)
    if (!isForm(request.headers.get('content-type'))) return pageResponse(formPage)
    const form = new URLSearchParams(await request.text())
    const result = id === undefined ? unknownPage : route.submit(id, form)
    return result instanceof Response ? result : pageResponse(result)
  }

  return async (request, path, area) => {
    for (const route of routes) {
      const segment = route.area === area ? route.pattern.exec(path)?.[1] : undefined
      if (segment !== undefined) return answer(route, segment, request)
    }
    return undefined
  }
}

/** The hosted pages, as the core answers them. */
export const createPageHandler =
  (pages: Pages): PageHandler =>
  async (area, request, path) => {
    const { method, headers } = request
    const url = addressed(request.url, headers.get('host'))
    const response = await pages({ method, headers, url, text: () => request.text() }, path, area)
    return response === undefined ? undefined : answerOf(response)
  }
