import type { Pages } from '../pages/handler.ts'
import { addressed } from '../pages/own-form.ts'
import { answerOf } from './answer.ts'
import type { PageHandler } from './handler.ts'

/** The hosted pages, as the core answers them. */
export const createPageHandler =
  (pages: Pages): PageHandler =>
  async (area, request, path) => {
    const { method, headers } = request
    const url = addressed(request.url, headers.get('host'))
    const response = await pages({ method, headers, url, text: () => request.text() }, path, area)
    return response === undefined ? undefined : answerOf(response)
  }
