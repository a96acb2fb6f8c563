import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const sources = ['subscriptions', 'gateway', 'notifications'].map((name) =>
  fileURLToPath(new URL(`../../src/contract/${name}.ts`, import.meta.url)),
)

/** A place in the specification, such as `S-b`, `G rule 1` or `Limits, Pagination`, alone or as a link. */
const PLACE = String.raw`\[?(?:[SG](?:\d+|-[a-h]| rule \d+| \w+)|Limits|Errors|Events|Versioning|Authentication|Endpoints)[^()[\]]*\]?(?:\([^()]*\))?`
const MARKS = new RegExp(String.raw`\s*\((?:${PLACE}(?:; )?)+\)`, 'g')

/** Returns the first paragraph of a docstring on one line, without its places in the specification. */
const firstParagraph = (docstring: string): string =>
  (docstring.split(/\n\s*\n/, 1)[0] ?? '')
    .replace(/\s+/g, ' ')
    .replace(
      /\{@link (\S+?)(?:(?:\s+|\s*\|\s*)([^}]+))?\}/g,
      (_link, target: string, text?: string) => text ?? target,
    )
    .replace(MARKS, '')
    .trim()

/** The texts about a type, a constant or a field. */
export interface Docstrings {
  /** Returns the text of an exported name. */
  of(name: string): string
  /** Returns the texts of the fields of an exported type or object, by their names. */
  fieldsOf(name: string): Readonly<Record<string, string>>
}

/** Reads the docstrings of the contract. A missing docstring is an error. */
export const readDocstrings = (): Docstrings => {
  const program = ts.createProgram(sources, {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    allowImportingTsExtensions: true,
    noEmit: true,
    strict: true,
    skipLibCheck: true,
    types: [],
  })
  const checker = program.getTypeChecker()
  const symbols = new Map(
    sources.flatMap((path) => {
      const file = program.getSourceFile(path)
      const module = file && checker.getSymbolAtLocation(file)
      return (module ? checker.getExportsOfModule(module) : []).map(
        (symbol) => [symbol.name, symbol] as const,
      )
    }),
  )
  const symbolOf = (name: string): ts.Symbol => {
    const symbol = symbols.get(name)
    if (symbol === undefined) throw new Error(`The contract exports no ${name}.`)
    return symbol
  }
  const textOf = (symbol: ts.Symbol, place: string): string => {
    const text = firstParagraph(ts.displayPartsToString(symbol.getDocumentationComment(checker)))
    if (text === '') throw new Error(`${place} has no docstring.`)
    return text
  }
  return {
    of: (name) => textOf(symbolOf(name), name),
    fieldsOf(name) {
      const symbol = symbolOf(name)
      const isType = (symbol.flags & ts.SymbolFlags.Type) !== 0
      const type = isType ? checker.getDeclaredTypeOfSymbol(symbol) : checker.getTypeOfSymbol(symbol)
      const fields = checker.getPropertiesOfType(type)
      return Object.fromEntries(fields.map((field) => [field.name, textOf(field, `${name}.${field.name}`)]))
    },
  }
}
