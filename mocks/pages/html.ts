const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign)

/** Markup that is safe to send: nothing but the template's own text is markup. */
export class Html {
  readonly markup: string

  constructor(markup: string) {
    this.markup = markup
  }
}

/** What a template can take: everything that is not markup already is encoded. */
export type HtmlValue = Html | string | number | undefined | readonly HtmlValue[]

const render = (value: HtmlValue): string => {
  if (value === undefined) return ''
  if (value instanceof Html) return value.markup
  return typeof value === 'object' ? value.map(render).join('') : escaped(String(value))
}

/** Writes markup. Values may stand as text and inside quoted attributes; `undefined` is left out. */
export const html = (parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html =>
  new Html(parts.reduce((markup, part, index) => markup + render(values[index - 1]) + part))

/** The parts of a document. */
export interface DocumentParts {
  readonly title: string
  readonly style: string
  /** What else stands in the head. */
  readonly head?: Html | undefined
  readonly body: Html
}

/** A whole document. Everything but the templates' own text is encoded. */
export const documentOf = ({ title, style, head, body }: DocumentParts): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${head}
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${new Html(style)}</style>
</head>
<body>
${body}
</body>
</html>
`.markup
