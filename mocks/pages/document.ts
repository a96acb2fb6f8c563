import { Html, html } from './html.ts'

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
