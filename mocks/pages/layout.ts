import { isAbsoluteUrl } from '../../src/contract/formats.ts'
import type { Html, HtmlValue } from './html.ts'
import { documentOf, html } from './html.ts'
import { style, styleSource } from './style.ts'

/** Where a payer may be sent afterwards. */
export interface ReturnTarget {
  /** The address, encoded for a header or a link. */
  readonly href: string
  /** The host, or the scheme of an app. */
  readonly name: string
  /** What the page's form-action must allow besides the page itself. */
  readonly sources: string
}

/**
 * Reads a merchant's return address. `undefined` for an address that a payer must not be sent to: one that is not
 * absolute, or whose scheme runs or reveals local content (`javascript:`, `data:`).
 */
export const returnTarget = (address: string): ReturnTarget | undefined => {
  if (!URL.canParse(address)) return undefined
  // What a browser makes of the address is checked: it drops line breaks, such as one in the middle of a scheme.
  const { href, host, protocol } = new URL(address)
  if (!isAbsoluteUrl(href)) return undefined
  // Chromium holds every redirect that follows a form to the page's form-action. A merchant's return address often
  // leads on to another origin (from its server to its front end), so the address's own origin would be too narrow.
  if (protocol === 'https:' || protocol === 'http:') return { href, name: host, sources: 'https: http:' }
  return { href, name: `${protocol}//${host}`, sources: protocol }
}

/** A page before it is sent. */
export interface Page {
  readonly status: number
  readonly title: string
  readonly content: HtmlValue
  /** Where a form of the page, or its answer, may lead besides the page itself. */
  readonly target?: ReturnTarget | undefined
}

const pageDocument = ({ title, content }: Pick<Page, 'title' | 'content'>): string =>
  documentOf({
    title,
    style,
    body: html`<header class="mock">A mock for tests: no money moves.</header>
<main>
${content}
</main>`,
  })

/** What every answer of a page carries. */
export const commonHeaders: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  // Not `no-referrer`: the Origin of the page's own form would then be `null` and could not be told from another's.
  'Referrer-Policy': 'same-origin',
}

/** No script at all, the one style, forms to the page itself and on to the merchant, no frame around it. */
const contentPolicy = async (target: ReturnTarget | undefined): Promise<string> =>
  [
    "default-src 'none'",
    `style-src ${await styleSource()}`,
    'img-src data:',
    `form-action 'self'${target === undefined ? '' : ` ${target.sources}`}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

/** Sends a page. */
export const pageResponse = async (
  page: Page,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> =>
  new Response(pageDocument(page), {
    status: page.status,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': await contentPolicy(page.target),
      ...commonHeaders,
      ...headers,
    },
  })

/** Sends the payer on to the merchant, by GET whatever the method was (303). */
export const redirectResponse = (target: ReturnTarget): Response =>
  new Response(null, { status: 303, headers: { Location: target.href, ...commonHeaders } })

/** The way back to the merchant, or why there is none. */
const wayBack = (target: ReturnTarget | undefined): Html =>
  target === undefined
    ? html`<p>The merchant gave no address that you can be sent back to. You can close this page.</p>`
    : html`<p><a class="button" href="${target.href}" rel="noreferrer">Return to <bdi>${target.name}</bdi></a></p>`

/** A page that says one thing. */
export const messagePage = (
  status: number,
  title: string,
  text: string,
  more: {
    readonly details?: HtmlValue
    readonly target?: ReturnTarget | undefined
    readonly offersReturn?: boolean
  } = {},
): Page => ({
  status,
  title,
  target: more.target,
  content: html`<h1>${title}</h1>
<p>${text}</p>
${more.details}
${more.offersReturn === true ? wayBack(more.target) : undefined}`,
})
