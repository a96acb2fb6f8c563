import { objectIssues, parameterIssues } from './transport/input-check.ts'
import { refuse, unknownNames, whileReading } from './transport/input-issues.ts'

/** Which page of a list, and how long its pages are. */
export interface PageOptions {
  /** Number of the page, from 1, the first (Limits, Pagination). */
  readonly page?: number | undefined
  /** Records on a page, from 1 to 100; without it `payments` gets the server's own number, 10 as a rule. Some servers ignore it (Limits, Pagination). */
  readonly perPage?: number | undefined
}

/** The longest page that may be asked for (Limits, Pagination). */
export const LONGEST_PAGE = 100

/** The page that is asked for. Throws `InvalidRequestError` for what names none, such as its number alone. */
export const checkPage = (
  operation: string,
  subscriptionId: unknown,
  page: PageOptions | undefined,
): PageOptions => {
  if (page === undefined) return {}
  return whileReading(operation, 'page', () => {
    refuse(operation, [
      // Both at once: they may have changed places.
      ...parameterIssues({ subscriptionId }),
      ...objectIssues('page', 'such as { page: 2, perPage: 50 }', page),
      ...unknownNames(page, ['page', 'perPage'], 'option of a page'),
    ])
    return { page: page.page, perPage: page.perPage }
  })
}
