import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

/** The folder of the repository, with a slash at its end. */
export const repository = fileURLToPath(new URL('../..', import.meta.url))
const probePath = join(repository, 'test/editor/probe.ts')

const { config } = ts.readConfigFile(join(repository, 'tsconfig.json'), ts.sys.readFile)

/** How the repository is compiled. */
export const compilerOptions = ts.parseJsonConfigFileContent(
  { ...config, include: [], files: [] },
  ts.sys,
  repository,
).options

/** Where a name stands, as an editor shows it under the pointer. */
export interface Hover {
  /** The declaration, such as `const charge: Charge`. */
  readonly declaration: string
  readonly documentation: string
}

/** A file of a user's in an editor, next to the package's sources. It is never written to the disk. */
export class Editor {
  readonly #text: string
  readonly #service: ts.LanguageService

  constructor(text: string) {
    this.#text = text
    const read = (path: string): string | undefined => (path === probePath ? text : ts.sys.readFile(path))
    this.#service = ts.createLanguageService({
      getCompilationSettings: () => compilerOptions,
      getScriptFileNames: () => [probePath],
      getScriptVersion: () => '1',
      getScriptSnapshot: (path) => {
        const found = read(path)
        return found === undefined ? undefined : ts.ScriptSnapshot.fromString(found)
      },
      getCurrentDirectory: () => repository,
      getDefaultLibFileName: (settings) => ts.getDefaultLibFilePath(settings),
      fileExists: (path) => path === probePath || ts.sys.fileExists(path),
      readFile: read,
      directoryExists: ts.sys.directoryExists,
      getDirectories: ts.sys.getDirectories,
    })
  }

  /** What the compiler says of the file. */
  problems(): string[] {
    return this.#service
      .getSemanticDiagnostics(probePath)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
  }

  /** What the editor shows at the end of the first place of `text` in the file. */
  hover(text: string): Hover {
    const start = this.#text.indexOf(text)
    const info = this.#service.getQuickInfoAtPosition(probePath, start + text.length)
    if (start < 0 || info === undefined) throw new Error(`Nothing to show at ${text}.`)
    return {
      declaration: ts.displayPartsToString(info.displayParts),
      documentation: ts.displayPartsToString(info.documentation),
    }
  }
}
