import type { Answer, IncomingRequest } from '../http/response.ts'
import { answerOf } from '../http/response.ts'
import { html } from '../pages/html.ts'
import { messagePage, pageResponse } from '../pages/layout.ts'
import { PANEL_PATH } from '../panel/access.ts'

const TEXT =
  'This server answers in the place of both payment APIs. Clients call it; you can watch and drive it.'

const welcome = messagePage(200, 'Mock server', TEXT, {
  details: html`<p><a class="button" href="${PANEL_PATH}">Open the control panel</a></p>`,
})

const welcomeAnswer = async (): Promise<Answer> => answerOf(await pageResponse(welcome))

/**
 * What a browser asks a server for by itself: the page at its root, which leads to the panel, and an icon, of which
 * there is none (204). Neither is a call to an API, and neither stands in the request log. `undefined` for all else.
 */
export const answerBrowser = (
  { method, headers }: Pick<IncomingRequest, 'method' | 'headers'>,
  path: string,
  hasPanel: boolean,
): Promise<Answer> | undefined => {
  if (method !== 'GET' && method !== 'HEAD') return undefined
  if (path === '/favicon.ico') return Promise.resolve({ status: 204, headers: {}, body: '' })
  const isWelcome = path === '/' && hasPanel && (headers.get('accept') ?? '').includes('text/html')
  return isWelcome ? welcomeAnswer() : undefined
}
