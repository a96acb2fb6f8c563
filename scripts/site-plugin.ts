import { readFileSync } from 'node:fs'
import {
  Application,
  Converter,
  JSX,
  MarkdownEvent,
  type Reflection,
  ReflectionKind,
  RendererEvent,
} from 'typedoc'
import { entries } from './entries.ts'
import { linkMarks } from './marks.ts'

// Makes TypeDoc treat the guides of docs/ as code hosts do: titles and anchors are the same there and on the site.

/** The parts of markdown-it and its tokens that are used here. */
interface Token {
  readonly type: string
  readonly info: string
  readonly content: string
  children: Token[] | null
  attrSet(name: string, value: string): void
}
type Render = (tokens: Token[], index: number, ...rest: unknown[]) => string
interface Parser {
  readonly core: { readonly ruler: { push(name: string, rule: (state: { tokens: Token[] }) => void): void } }
  readonly renderer: { readonly rules: Record<string, Render | undefined> }
}

/** TypeDoc reads the text of a heading from its tokens, but not from code in it. */
const readCodeInHeadings = ({ tokens }: { tokens: Token[] }): void => {
  for (const [index, token] of tokens.entries()) {
    if (token.type !== 'heading_open') continue
    for (const child of tokens[index + 1]?.children ?? []) {
      if (child.type === 'code_inline') child.children = [{ ...child, type: 'text', children: null }]
    }
  }
}

/** Each cell names its column, because a phone shows the cells of a row below each other. */
const labelCells = ({ tokens }: { tokens: Token[] }): void => {
  let labels: string[] = []
  let column = 0
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'thead_open') labels = []
    if (token.type === 'th_open') labels.push((tokens[index + 1]?.content ?? '').replaceAll('`', ''))
    if (token.type === 'tr_open') column = 0
    if (token.type !== 'td_open') continue
    token.attrSet('data-label', labels[column] ?? '')
    column += 1
  }
}

const tableOf = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  const row = (cells: readonly string[]): string =>
    `<tr>${cells.map((cell, column) => `<td data-label="${head[column]}">${cell}</td>`).join('')}</tr>`
  const titles = head.map((title) => `<th>${title}</th>`).join('')
  return `<table><thead><tr>${titles}</tr></thead><tbody>${rows.map(row).join('')}</tbody></table>\n`
}

/** Returns a table of the messages that a mermaid diagram draws between its participants. */
const messageTable = (diagram: string): string => {
  const names = new Map(
    [...diagram.matchAll(/^ *participant (\w+) as (.+)$/gm)].map(([, short = '', name = '']) => [
      short,
      name,
    ]),
  )
  const messages = [...diagram.matchAll(/^ *(\w+)--?>>(\w+): (.+)$/gm)].map(
    ([, from = '', to = '', text = '']) => [names.get(from) ?? from, names.get(to) ?? to, text],
  )
  return tableOf(['From', 'To', 'Message'], messages)
}

/** Returns a table of the transitions that a mermaid diagram draws. */
const transitionTable = (diagram: string): string => {
  const moves = [...diagram.matchAll(/^ *(\S+) --> (\w+): (\w+)$/gm)]
  const rows = moves.map(([, from, to, event = '']) => [
    from === '[*]' ? '' : `<code>${from}</code>`,
    event,
    `<code>${to}</code>`,
  ])
  return tableOf(['From', 'Event', 'To'], rows)
}

const extendParser = ({ core, renderer: { rules } }: Parser): void => {
  core.ruler.push('code-in-headings', readCodeInHeadings)
  core.ruler.push('labels-of-cells', labelCells)
  const { fence } = rules
  rules.fence = (tokens, index, ...rest) =>
    tokens[index]?.info === 'mermaid'
      ? (tokens[index].content.startsWith('sequenceDiagram') ? messageTable : transitionTable)(
          tokens[index].content,
        )
      : (fence?.(tokens, index, ...rest) ?? '')
}

/** `src/contract` becomes `mandatekit/contract`, and `docs/errors` becomes `errors`. */
const nameInAddress = (name: string): string => {
  const [entry] =
    Object.entries(entries).find(([, file]) => file.replace(/(\/index)?\.ts$/, '') === name) ?? []
  if (entry === undefined) return name.replace(/^docs\//, '')
  return `mandatekit/${entry}`.replace(/\/index$/, '')
}

/** Called by TypeDoc. */
export const load = (app: Application): void => {
  const { converter, options, renderer } = app
  // TypeDoc reads its options anew after it has loaded the plugins.
  app.on(Application.EVENT_BOOTSTRAP_END, () => options.setValue('markdownItLoader', extendParser))

  // Addresses are made of names. The title of a guide is its first heading, set when its address is known.
  converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
    const pages = project.childrenIncludingDocuments ?? []
    for (const page of pages) page.name = nameInAddress(page.name)
    for (const guide of project.documents ?? []) guide.frontmatter.group = 'Guides'
    // The first page has the name of the project as its title already.
    const [start] = project.readme ?? []
    if (start !== undefined) start.text = start.text.replace(/^# .*\n/, '')
    const place = ({ name }: Reflection): number => {
      const at = readme.lastIndexOf(`](docs/${name}.md)`)
      return at < 0 ? readme.length : at
    }
    for (const list of [pages, project.documents ?? []]) list.sort((a, b) => place(a) - place(b))
  })
  const guides = new Map<string, Reflection>()
  renderer.on(RendererEvent.BEGIN, ({ project }) => {
    for (const guide of project.documents ?? []) {
      guides.set(guide.name, guide)
      const text = guide.content.map((part) => part.text).join('')
      const [, heading = project.name] = text.match(/^# (.+)$/m) ?? []
      // The changelog's heading is the package's name.
      if (heading !== project.name) guide.name = heading.replaceAll('`', '')
    }
  })

  // Guides have links already, and TypeDoc reads their anchors. Other texts are docstrings with marks.
  const linkDocstring = (event: MarkdownEvent): void => {
    const { page } = event
    const model = page.model as Reflection
    const { router } = renderer
    if (router === undefined || model.kindOf(ReflectionKind.Document | ReflectionKind.Project)) return
    event.parsedText = linkMarks(event.parsedText, (place) => {
      const guide = guides.get(place.page)
      if (guide === undefined) throw new Error(`The site has no page ${place.page}.`)
      return `${router.relativeUrl(model, guide)}#${place.anchor}`
    })
  }
  // Before TypeDoc renders the text.
  renderer.on(MarkdownEvent.PARSE, linkDocstring, 100)

  // `npm run docs` writes this page after TypeDoc's pages.
  renderer.hooks.on('sidebar.begin', (context) =>
    JSX.createElement('a', { href: context.relativeURL('openapi.html') }, 'OpenAPI'),
  )

  // Anchors written as HTML, such as those of the specification's rows.
  renderer.on(MarkdownEvent.PARSE, ({ page, originalText }) => {
    for (const [, id = ''] of originalText.matchAll(/<a id="([^"]+)">/g)) {
      renderer.router?.getSlugger(page.model as Reflection).slug(id)
    }
  })
}
