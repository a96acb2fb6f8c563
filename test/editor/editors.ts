import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type typescript from 'typescript'
import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from 'vscode-jsonrpc/node.js'

/** One file in an editor, for which a compiler gives the texts. */
export interface Editor {
  /** The signature and the documentation that the editor shows at an offset in the file. */
  hoverAt(offset: number): Promise<string>
  /** The errors of the file, as the editor lists them. */
  errors(): Promise<string>
  close(): Promise<void>
}

const optionsOf = (ts: typeof typescript, repository: string): typescript.CompilerOptions => {
  const { config } = ts.readConfigFile(join(repository, 'tsconfig.json'), ts.sys.readFile)
  const settings = { ...config, include: [], files: [] }
  return ts.parseJsonConfigFileContent(settings, ts.sys, repository).options
}

/** Opens a file that needs not exist, by the language service that TypeScript had until version 6. */
export const openInService = (
  ts: typeof typescript,
  repository: string,
  file: string,
  text: string,
  options = optionsOf(ts, repository),
): Editor => {
  const service = ts.createLanguageService({
    getScriptFileNames: () => [file],
    getScriptVersion: () => '1',
    getScriptSnapshot: (path) => {
      const content = path === file ? text : ts.sys.readFile(path)
      return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content)
    },
    getCurrentDirectory: () => repository,
    getCompilationSettings: () => options,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: (path) => path === file || ts.sys.fileExists(path),
    readFile: ts.sys.readFile,
    readDirectory: ts.sys.readDirectory,
    directoryExists: ts.sys.directoryExists,
  })
  return {
    hoverAt: async (offset) => {
      const { displayParts, documentation } = service.getQuickInfoAtPosition(file, offset) ?? {}
      return [displayParts, documentation].map((parts) => ts.displayPartsToString(parts)).join('\n')
    },
    errors: async () =>
      service
        .getSemanticDiagnostics(file)
        .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))
        .join('\n'),
    close: async () => service.dispose(),
  }
}

/** Opens a file that needs not exist, by the language server of TypeScript 7. */
export const openInLanguageServer = async (
  repository: string,
  file: string,
  text: string,
): Promise<Editor> => {
  const program = join(repository, 'node_modules/typescript7/bin/tsc')
  const server = spawn(process.execPath, [program, '--lsp', '--stdio'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    timeout: 240_000,
  })
  const ended = once(server, 'close')
  const connection = createMessageConnection(
    new StreamMessageReader(server.stdout),
    new StreamMessageWriter(server.stdin),
  )
  // The server asks for the editor's settings, and waits for the reply.
  connection.onRequest('workspace/configuration', ({ items }: { items: unknown[] }) => items.map(() => null))
  connection.onRequest('client/registerCapability', () => null)
  connection.listen()
  const rootUri = String(pathToFileURL(repository))
  await connection.sendRequest('initialize', { processId: process.pid, rootUri, capabilities: {} })
  await connection.sendNotification('initialized', {})
  const uri = String(pathToFileURL(file))
  await connection.sendNotification('textDocument/didOpen', {
    textDocument: { uri, languageId: 'typescript', version: 1, text },
  })
  return {
    hoverAt: async (offset) => {
      const before = text.slice(0, offset).split('\n')
      const position = { line: before.length - 1, character: before.at(-1)?.length ?? 0 }
      const hover: { contents: { value: string } | string } = await connection.sendRequest(
        'textDocument/hover',
        { textDocument: { uri }, position },
      )
      return typeof hover.contents === 'string' ? hover.contents : hover.contents.value
    },
    errors: async () => {
      const { items }: { items: { message: string }[] } = await connection.sendRequest(
        'textDocument/diagnostic',
        { textDocument: { uri } },
      )
      return items.map(({ message }) => message).join('\n')
    },
    close: async () => {
      await connection.sendRequest('shutdown')
      await connection.sendNotification('exit')
      await ended
      connection.dispose()
    },
  }
}
