import type { Area } from '../../src/contract/endpoint.ts'
import { messagePage, type Page, type ReturnTarget } from './layout.ts'

/** One kind of page for the payer. `show` shows the page, and `submit` processes the form. */
export interface Route {
  readonly area: Area
  readonly pattern: RegExp
  readonly show: (id: string) => Page
  /** Returns the page to show next, or the merchant's address to which the payer is redirected. */
  readonly submit: (id: string, form: URLSearchParams) => Page | ReturnTarget
}

export const unknownPage = messagePage(
  404,
  'Page not found',
  'There is no request at this address. A reset of the mock may have deleted the request.',
)

/** Replaces the status 200 of a page with 409, because the payer sent the form too late. */
export const tooLate = (page: Page): Page => (page.status === 200 ? { ...page, status: 409 } : page)
