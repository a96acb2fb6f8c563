import type { Area } from '../../src/contract/endpoint.ts'
import type { Gateway } from '../gateway/operations.ts'
import { gatewayDefaults } from '../gateway/options.ts'
import { FORM_TYPE, isForm, type ResponseData } from '../http/message.ts'
import type { PageHandler } from '../http/pipeline.ts'
import { decoded } from '../http/routes.ts'
import type { Subscriptions } from '../subscriptions/operations.ts'
import { authorizationPage, isOpen } from './authorization.ts'
import { confirmationPage } from './confirmation.ts'
import { isOwnForm } from './csrf.ts'
import type { Page, ReturnTarget } from './layout.ts'
import { messagePage, pageResponse, redirectResponse, returnTarget } from './layout.ts'

/** One kind of page for the payer. `show` shows the page, and `submit` processes the form. */
interface Route {
  readonly area: Area
  readonly pattern: RegExp
  readonly show: (id: string) => Page
  /** Returns the page to show next, or the merchant's address to which the payer is redirected. */
  readonly submit: (id: string, form: URLSearchParams) => Page | ReturnTarget
}

const unknownPage = messagePage(
  404,
  'Page not found',
  'There is no request at this address. A reset of the mock may have deleted the request.',
)
const undecidedPage = messagePage(400, 'No choice made', 'Go back and choose to authorize or to decline.')
const foreignPage = messagePage(
  403,
  'Request refused',
  'This form was not sent from its own page. Go back to the merchant and open the page again.',
)
const methodPage = messagePage(405, 'Method not allowed', 'This page accepts GET and its own form only.')
const formPage = messagePage(415, 'Request refused', `This page accepts a form of type ${FORM_TYPE} only.`)

/** Replaces the status 200 of a page with 409, because the payer sent the form too late. */
const tooLate = (page: Page): Page => (page.status === 200 ? { ...page, status: 409 } : page)

const subscriptionsRoute = (domain: Subscriptions): Route => {
  const show = (id: string): Page => {
    const view = domain.authorization(id)
    return view.ok ? authorizationPage(view.value) : unknownPage
  }
  return {
    area: 'subscriptions',
    pattern: /^\/authorize\/([^/]+)\/?$/,
    show,
    submit(id, form) {
      const decision = form.get('decision')
      if (decision !== 'authorize' && decision !== 'decline') {
        const view = domain.authorization(id)
        return view.ok && isOpen(view.value) ? undecidedPage : tooLate(show(id))
      }
      const result = domain[decision](id)
      if (!result.ok) return tooLate(show(id))
      return returnTarget(result.value.returnUrl)
    },
  }
}

const gatewayRoute = (domain: Gateway): Route => {
  const { otp: code } = domain.reference()
  // A code that a test has chosen may be secret, so the page does not show it.
  const hint = code === gatewayDefaults.otp ? `The code is ${code}.` : 'The code is the option gateway.otp.'
  const show = (id: string, wrongCode = false): Page => {
    const view = domain.confirmation(id)
    return view.ok ? confirmationPage(view.value, hint, wrongCode) : unknownPage
  }
  return {
    area: 'gateway',
    pattern: /^\/confirm\/([^/]+)\/?$/,
    show: (id) => show(id),
    submit(id, form) {
      const view = domain.confirmation(id)
      if (!view.ok) return unknownPage
      // Spaces are removed, because payers type or paste codes in groups of digits.
      const otp = (form.get('otp') ?? '').replace(/\s/g, '')
      const result = domain.confirm(id, { otp })
      if (result.ok) return returnTarget(view.value.returnUrl)
      return result.refusal.reason === 'incorrect_code' ? show(id, true) : tooLate(show(id))
    },
  }
}

const respond = async (
  { show, submit }: Route,
  id: string,
  request: Parameters<PageHandler>[1],
): Promise<ResponseData> => {
  const { method, headers } = request
  if (method === 'GET') return pageResponse(show(id))
  if (method === 'HEAD') return { ...(await pageResponse(show(id))), body: '' }
  if (method !== 'POST') return pageResponse(methodPage, { Allow: 'GET, HEAD, POST' })
  if (!isOwnForm(request, headers.get('host'))) return pageResponse(foreignPage)
  if (!isForm(headers.get('content-type'))) return pageResponse(formPage)
  const next = submit(id, new URLSearchParams(await request.text()))
  return 'href' in next ? redirectResponse(next) : pageResponse(next)
}

/** Creates the payer's pages: `/authorize/{invoiceId}` of area S and `/confirm/{confirmationId}` of area G. */
export const createPages = (domains: {
  readonly subscriptions: Subscriptions
  readonly gateway: Gateway
}): PageHandler => {
  const routes = [subscriptionsRoute(domains.subscriptions), gatewayRoute(domains.gateway)]
  return async (area, request, path) => {
    const route = routes.find((one) => one.area === area)
    const segment = route?.pattern.exec(path)?.[1]
    return route === undefined || segment === undefined
      ? undefined
      : respond(route, decoded(segment), request)
  }
}
