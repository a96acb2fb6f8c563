import { GATEWAY_API_PREFIX } from '../../src/contract/gateway.ts'
import { SUBSCRIPTIONS_API_PREFIX } from '../../src/contract/subscriptions.ts'
import { jsonResponse, type ResponseData } from '../http/message.ts'
import { html } from '../pages/html.ts'
import { pageResponse } from '../pages/layout.ts'
import { API_DOCUMENT_PATH, API_PAGE_PATH, PANEL_PATH } from '../panel/access.ts'
import type { Mock } from '../types.ts'
import { joinDocuments, openApiPage } from './openapi-document.ts'

/** Returns the OpenAPI document of a mock's server at a base URL, as JSON or as a page. */
export const openApiSite = async (mock: Mock, url: string, isPage: boolean): Promise<ResponseData> => {
  const [{ default: subscriptions }, { default: gateway }] = await Promise.all([
    import('mandatekit/openapi/subscriptions.json', { with: { type: 'json' } }),
    import('mandatekit/openapi/gateway.json', { with: { type: 'json' } }),
  ])
  const { clientOptions } = mock
  const document = joinDocuments(
    [
      {
        document: subscriptions,
        standardPrefix: SUBSCRIPTIONS_API_PREFIX,
        prefix: clientOptions.subscriptions.apiPrefix ?? SUBSCRIPTIONS_API_PREFIX,
      },
      {
        document: gateway,
        standardPrefix: GATEWAY_API_PREFIX,
        prefix: clientOptions.gateway.apiPrefix ?? GATEWAY_API_PREFIX,
      },
    ],
    url,
  )
  // Viewers and generators on other origins may read the document, because it contains no data of the mock.
  return isPage
    ? openApiPage(document, API_DOCUMENT_PATH)
    : jsonResponse(200, document, { 'Access-Control-Allow-Origin': '*', 'Cache-Control': 'no-store' })
}

/** Returns the page at the server's root, which links to the panel. */
export const welcomePage = (): Promise<ResponseData> =>
  pageResponse({
    status: 200,
    title: 'Mock server',
    content: html`<p>This server simulates both payment APIs for your application. The control panel shows the state of the APIs.</p>
<p><a class="button" href="${PANEL_PATH}">Open the control panel</a></p>
<p><a href="${API_PAGE_PATH}">Read the documentation of both APIs (OpenAPI)</a></p>`,
  })
