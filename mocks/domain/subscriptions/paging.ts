import type { SubscriptionsOptions } from './options.ts'

const WHOLE_NUMBER = /^\d+$/

const wholeNumber = (text: string | undefined): number | undefined => {
  const number = text !== undefined && WHOLE_NUMBER.test(text) ? Number(text) : 0
  return number >= 1 ? number : undefined
}

/** The part of a list that a query asks for (Limits, Pagination; row 41): what is unreadable counts as not given. */
export const pageOf = (
  query: { readonly page?: string; readonly perPage?: string },
  { defaultSize, maxSize, ignore }: SubscriptionsOptions['paging'],
): { readonly from: number; readonly to: number } => {
  const page = ignore.includes('page') ? undefined : wholeNumber(query.page)
  const perPage = ignore.includes('per_page') ? undefined : wholeNumber(query.perPage)
  const size = Math.min(perPage ?? defaultSize, maxSize)
  const from = ((page ?? 1) - 1) * size
  return { from, to: from + size }
}
