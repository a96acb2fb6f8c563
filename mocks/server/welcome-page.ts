import type { ResponseData } from '../http/response.ts'
import { html } from '../pages/html.ts'
import { messagePage, pageResponse } from '../pages/layout.ts'
import { API_PAGE_PATH, PANEL_PATH } from '../panel/access.ts'

/** Returns the page at the server's root, which links to the panel. */
export const welcomePage = (): Promise<ResponseData> =>
  pageResponse(
    messagePage(
      200,
      'Mock server',
      'This server simulates both payment APIs for your application. The control panel shows the state of the APIs.',
      html`<p><a class="button" href="${PANEL_PATH}">Open the control panel</a></p>
<p><a href="${API_PAGE_PATH}">Read the documentation of both APIs (OpenAPI)</a></p>`,
    ),
  )
