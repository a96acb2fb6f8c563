const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Markup that is safe to send, because templates escape their values. */
export class Html {
  readonly markup: string

  constructor(markup: string) {
    this.markup = markup
  }
}

/** A value of a template. Templates escape every value that is not `Html`. */
export type HtmlValue = Html | string | number | false | undefined | readonly HtmlValue[]

const render = (value: HtmlValue): string => {
  if (value === undefined || value === false) return ''
  if (value instanceof Html) return value.markup
  if (typeof value === 'object') return value.map(render).join('')
  return String(value).replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign)
}

/** Renders markup. Put values only into text and quoted attributes; `undefined` and `false` render as nothing. */
export const html = (parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html =>
  new Html(parts.reduce((markup, part, index) => markup + render(values[index - 1]) + part))

/** A whole page. Its style and script are the only ones that its policy allows. */
export interface Document {
  readonly title: string
  readonly style: string
  readonly script?: string
  readonly body: Html
}

export const documentOf = ({ title, style, script, body }: Document): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${new Html(style)}</style>
</head>
<body>
${body}
${script && html`<script>${new Html(script)}</script>`}
</body>
</html>
`.markup
