import { join } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { entries } from '../../scripts/entries.ts'
import { repository } from '../package/project.ts'

const { config } = ts.readConfigFile(join(repository, 'tsconfig.json'), ts.sys.readFile)
const settings = { ...config, include: [], files: [] }
const { options } = ts.parseJsonConfigFileContent(settings, ts.sys, repository)

/** Something public, as an editor shows it. */
interface Documented {
  /** An exported name, or the path to a field of its type, such as `Charge.amount`. */
  readonly name: string
  readonly documentation: string
}

/** What the entries export, and every field of the exported types and of the types of those fields; classes excepted. */
const publicApi = (entries: readonly string[]) => {
  const paths = entries.map((entry) => join(repository, entry))
  const program = ts.createProgram(paths, options)
  const checker = program.getTypeChecker()
  const names: Documented[] = []
  const fields = new Map<ts.Symbol, Documented>()
  const seen = new Set<ts.Type>()

  const textOf = (part: ts.Symbol | ts.Signature) =>
    ts.displayPartsToString(part.getDocumentationComment(checker))

  const isOwn = (symbol: ts.Symbol): boolean => {
    const path = symbol.declarations?.[0]?.getSourceFile().fileName
    return path?.startsWith(repository) === true && !path.includes('/node_modules/')
  }

  const visit = (type: ts.Type, name: string): void => {
    if (seen.has(type) || type.isClass()) return
    seen.add(type)
    if (type.isUnionOrIntersection()) {
      for (const part of type.types) visit(part, name)
      return
    }
    for (const argument of checker.getTypeArguments(type as ts.TypeReference)) visit(argument, name)
    for (const field of checker.getPropertiesOfType(type).filter(isOwn)) {
      const path = `${name}.${field.name}`
      fields.set(field, { name: path, documentation: textOf(field) })
      visit(checker.getTypeOfSymbol(field), path)
    }
  }

  const exported = paths.flatMap((path) => {
    const file = program.getSourceFile(path)
    const entry = file && checker.getSymbolAtLocation(file)
    if (entry === undefined) throw new Error(`${path} exports nothing.`)
    return checker.getExportsOfModule(entry)
  })
  for (const found of exported) {
    const symbol = found.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(found) : found
    const { name } = found
    const signatures =
      symbol.flags & ts.SymbolFlags.Function
        ? checker.getSignaturesOfType(checker.getTypeOfSymbol(symbol), ts.SignatureKind.Call)
        : [symbol]
    for (const part of signatures) names.push({ name, documentation: textOf(part) })
    const isType = symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias)
    if (isType) visit(checker.getDeclaredTypeOfSymbol(symbol), name)
  }
  return { names, fields: [...fields.values()] }
}

/** Unions whose own docstring lists what each variant says. */
const LISTED = /^(?:AnyMandateKitError|Claim|Difference|NotificationReport)\./

const { names, fields } = publicApi(Object.values(entries))
const silentIn = (documented: typeof names) =>
  documented.filter(({ documentation }) => documentation === '').map(({ name }) => name)

test('every exported name has a docstring, and every signature of a function', () => {
  expect(silentIn(names)).toEqual([])
  expect(names.length).toBeGreaterThan(150)
})

test('every field of an exported type has a docstring', () => {
  expect(silentIn(fields.filter(({ name }) => !LISTED.test(name)))).toEqual([])
  expect(fields.length).toBeGreaterThan(500)
})
