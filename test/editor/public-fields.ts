import { join } from 'node:path'
import ts from 'typescript'
import { compilerOptions, repository } from './language-service.ts'

/** A field of an exported type, as an editor tells it. */
export interface PublicField {
  /** The type and the field, such as `Charge.amount`; of a type within another, the way to it. */
  readonly name: string
  readonly documentation: string
  /** Path of the file that declares it, from the repository's root. */
  readonly file: string
}

const programOf = (entries: readonly string[]): { paths: readonly string[]; program: ts.Program } => {
  const paths = entries.map((entry) => join(repository, entry))
  return { paths, program: ts.createProgram(paths, compilerOptions) }
}

/** What the entries export, with what stands behind each name. */
const exportsOf = (
  program: ts.Program,
  paths: readonly string[],
): { readonly name: string; readonly symbol: ts.Symbol }[] => {
  const checker = program.getTypeChecker()
  return paths.flatMap((path) => {
    const file = program.getSourceFile(path)
    const entry = file && checker.getSymbolAtLocation(file)
    if (entry === undefined) throw new Error(`${path} exports nothing.`)
    return checker.getExportsOfModule(entry).map((exported) => ({
      name: exported.name,
      symbol: exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported,
    }))
  })
}

/** What the entries export, with its documentation; each signature of an overloaded function for itself. */
export function publicNames(entries: readonly string[]): Pick<PublicField, 'name' | 'documentation'>[] {
  const { paths, program } = programOf(entries)
  const checker = program.getTypeChecker()
  return exportsOf(program, paths).flatMap(({ name, symbol }) => {
    const isFunction = symbol.flags & ts.SymbolFlags.Function
    const parts = isFunction
      ? checker.getSignaturesOfType(checker.getTypeOfSymbol(symbol), ts.SignatureKind.Call)
      : [symbol]
    return parts.map((part) => ({
      name,
      documentation: ts.displayPartsToString(part.getDocumentationComment(checker)),
    }))
  })
}

/** Every field of the types that the given entries export, and of the types of those fields. Classes are left out. */
export function publicFields(entries: readonly string[]): PublicField[] {
  const { paths, program } = programOf(entries)
  const checker = program.getTypeChecker()
  const found = new Map<ts.Symbol, PublicField>()
  const seen = new Set<ts.Type>()

  const ownFile = (symbol: ts.Symbol): string | undefined => {
    const path = symbol.declarations?.[0]?.getSourceFile().fileName
    const own = path?.startsWith(repository) && !path.includes('/node_modules/')
    return own ? path?.slice(repository.length) : undefined
  }

  const visit = (type: ts.Type, name: string): void => {
    if (seen.has(type) || type.isClass()) return
    seen.add(type)
    if (type.isUnionOrIntersection()) {
      for (const part of type.types) visit(part, name)
      return
    }
    for (const argument of checker.getTypeArguments(type as ts.TypeReference)) visit(argument, name)
    for (const field of checker.getPropertiesOfType(type)) {
      const file = ownFile(field)
      if (file === undefined) continue
      const documentation = ts.displayPartsToString(field.getDocumentationComment(checker))
      const path = `${name}.${field.name}`
      found.set(field, { name: path, documentation, file })
      visit(checker.getTypeOfSymbol(field), path)
    }
  }

  for (const { name, symbol } of exportsOf(program, paths)) {
    const isType = symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias)
    if (isType) visit(checker.getDeclaredTypeOfSymbol(symbol), name)
  }
  return [...found.values()]
}
