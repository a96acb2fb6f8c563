import type { Gateway } from '../gateway/operations.ts'
import { FORM_TYPE, isForm } from '../http/body.ts'
import type { PageHandler } from '../http/pipeline.ts'
import type { ResponseData } from '../http/response.ts'
import { decoded } from '../http/routes.ts'
import type { Subscriptions } from '../subscriptions/operations.ts'
import { authorizationRoute } from './authorization.ts'
import { confirmationRoute } from './confirmation.ts'
import { isOwnForm } from './csrf.ts'
import { messagePage, pageResponse, redirectResponse } from './layout.ts'
import type { Route } from './route.ts'

const foreignPage = messagePage(
  403,
  'Request refused',
  'This form was not sent from its own page. Go back to the merchant and open the page again.',
)
const methodPage = messagePage(405, 'Method not allowed', 'This page accepts GET and its own form only.')
const formPage = messagePage(415, 'Request refused', `This page accepts a form of type ${FORM_TYPE} only.`)

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

/** Creates the payer's pages of both areas. */
export const createPages = (domains: {
  readonly subscriptions: Subscriptions
  readonly gateway: Gateway
}): PageHandler => {
  const routes = [authorizationRoute(domains.subscriptions), confirmationRoute(domains.gateway)]
  return async (area, request, path) => {
    const route = routes.find((one) => one.area === area)
    const segment = route?.pattern.exec(path)?.[1]
    return route === undefined || segment === undefined
      ? undefined
      : respond(route, decoded(segment), request)
  }
}
