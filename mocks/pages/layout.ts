import type { HeaderFields, ResponseData } from '../http/message.ts'
import { type Document, documentOf, type HtmlValue, html } from './html.ts'
import { style } from './style.ts'

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

/** A page for the payer. */
export interface Page {
  readonly status: number
  readonly title: string
  readonly content: HtmlValue
  /** The merchant's address, for a page that leads back to the merchant. */
  readonly target?: ReturnTarget
  /** What the mock's banner tells the tester, such as the code to enter. */
  readonly hint?: string | undefined
  /** Whether the page reports a mistake. Its title then starts with "Error", for screen readers. */
  readonly isWrong?: boolean
}

export const commonHeaders: HeaderFields = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  // With `no-referrer`, every form would have `Origin: null`, so the mock could not recognize its own forms by Origin.
  'Referrer-Policy': 'same-origin',
}

/** Returns the hash of a style or script, in the format of a Content-Security-Policy. */
const hashSource = async (text: string): Promise<string> => {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return `'sha256-${btoa(String.fromCharCode(...new Uint8Array(digest)))}'`
}

/**
 * Responds with a page. Its Content-Security-Policy allows its own style and script, and forms to the addresses in
 * `forms`, in the syntax of `form-action`.
 */
export const documentResponse = async (
  status: number,
  document: Document,
  forms: string,
  headers: HeaderFields = {},
): Promise<ResponseData> => {
  const { style, script } = document
  const policy = [
    "default-src 'none'",
    `style-src ${await hashSource(style)}`,
    ...(script === undefined ? [] : [`script-src ${await hashSource(script)}`, "connect-src 'self'"]),
    'img-src data:',
    `form-action ${forms}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ]
  return {
    status,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': policy.join('; '),
      ...commonHeaders,
      ...headers,
    },
    body: documentOf(document),
  }
}

/** Responds with a page for the payer. */
export const pageResponse = (
  { status, title, content, target, hint, isWrong }: Page,
  headers?: HeaderFields,
): Promise<ResponseData> => {
  const body = html`<header class="mock">A mock for tests: no money moves.${hint && ` ${hint}`}</header>
<main>
<h1>${title}</h1>
${content}
</main>`
  const document = { title: isWrong ? `Error: ${title}` : title, style, body }
  return documentResponse(status, document, `'self' ${target?.sources ?? ''}`.trim(), headers)
}
