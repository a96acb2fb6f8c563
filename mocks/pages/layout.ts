import type { HeaderFields, ResponseData } from '../http/message.ts'
import { documentOf, type Html, type HtmlValue, html } from './html.ts'
import { hashSource, style } from './style.ts'

/** The merchant's address to which the payer returns. */
export interface ReturnTarget {
  /** The address, encoded for a header or a link. */
  readonly href: string
  /** The host of a web address, or the scheme and host of an app's address. */
  readonly name: string
  /** The addresses to which a form may redirect, in the syntax of `form-action` in a Content-Security-Policy. */
  readonly sources: string
}

/** Reads a merchant's return address. The mock has already refused schemes that execute code or open files. */
export const returnTarget = (address: string): ReturnTarget => {
  const { href, host, protocol } = new URL(address)
  // Chromium applies `form-action` to every redirect after the form. A return address often redirects to another
  // origin (from the merchant's server to its front end), so all web origins are allowed.
  if (protocol === 'https:' || protocol === 'http:') return { href, name: host, sources: 'https: http:' }
  return { href, name: `${protocol}//${host}`, sources: protocol }
}

/** The content of a page. */
export interface Page {
  readonly status: number
  readonly title: string
  readonly content: HtmlValue
  /** The merchant's address, for a page that leads back to the merchant. */
  readonly target?: ReturnTarget | undefined
  /** What the mock's banner tells the tester, such as the code to enter. */
  readonly hint?: string | undefined
}

/** The headers of every page. */
export const commonHeaders: HeaderFields = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  // With `no-referrer`, every form would have `Origin: null`, so the mock could not recognize its own forms by Origin.
  'Referrer-Policy': 'same-origin',
}

let styleSource: Promise<string> | undefined

/** Returns a Content-Security-Policy that allows only the page's style, and forms to this server or the merchant. */
const contentPolicy = async (target: ReturnTarget | undefined): Promise<string> => {
  styleSource ??= hashSource(style)
  return [
    "default-src 'none'",
    `style-src ${await styleSource}`,
    'img-src data:',
    `form-action 'self'${target === undefined ? '' : ` ${target.sources}`}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

/** Responds with a page. */
export const pageResponse = async (
  { status, title, content, target, hint }: Page,
  headers: HeaderFields = {},
): Promise<ResponseData> => ({
  status,
  headers: {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': await contentPolicy(target),
    ...commonHeaders,
    ...headers,
  },
  body: documentOf({
    title,
    style,
    body: html`<header class="mock">A mock for tests: no money moves.${hint && ` ${hint}`}</header>
<main>
${content}
</main>`,
  }),
})

/** Redirects the payer to the merchant. With status 303, the browser always uses GET. */
export const redirectResponse = ({ href }: ReturnTarget): ResponseData => ({
  status: 303,
  headers: { Location: href, ...commonHeaders },
  body: '',
})

/** Returns a page with one message. */
export const messagePage = (status: number, title: string, text: string, details?: HtmlValue): Page => ({
  status,
  title,
  content: html`<h1>${title}</h1>
<p>${text}</p>
${details}`,
})

/** Returns a page with a message and the link back to the merchant. */
export const closedPage = (
  [title, text, status]: readonly [title: string, text: string, status: number],
  details: HtmlValue,
  address: string,
): Page => {
  const target = returnTarget(address)
  const link = html`<p><a class="button" href="${target.href}" rel="noreferrer">Return to <bdi>${target.name}</bdi></a></p>`
  return { ...messagePage(status, title, text, [details, link]), target }
}

/** Renders the link that leads back to the merchant from a page on which the payer has not decided. */
export const backLink = ({ href, name }: ReturnTarget): Html =>
  html`<p class="back"><a href="${href}" rel="noreferrer">Back to <bdi>${name}</bdi> without deciding</a></p>`
