import type { Pages } from '../pages/handler.ts'
import type { Answer, IncomingRequest } from './answer.ts'
import type { PageHandler } from './handler.ts'

/** Under a server's other names, a page's own form comes from the name that the browser used. */
const addressed = (request: IncomingRequest): string => {
  const host = request.headers.get('host')
  if (host === null || !URL.canParse(`http://${host}`)) return request.url
  const url = new URL(request.url)
  url.host = host
  return url.href
}

const asAnswer = async (response: Response): Promise<Answer> => ({
  status: response.status,
  headers: Object.fromEntries(response.headers),
  body: await response.text(),
})

/** The hosted pages, as the core answers them. */
export const createPageHandler =
  (pages: Pages): PageHandler =>
  async (area, request, path) => {
    const { method, headers } = request
    const response = await pages(
      { method, headers, url: addressed(request), text: () => request.text() },
      path,
      area,
    )
    return response === undefined ? undefined : asAnswer(response)
  }
