import { readFile } from 'node:fs/promises'
import { extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type MockOptions, readMockOptions } from '../options.ts'
import { CommandError, codeOf, messageOf } from './arguments.ts'

/** Reads a text file. If the file is unreadable, throws a CommandError that names the option and the path. */
export const readNamedFile = async (option: string, path: string): Promise<string> => {
  try {
    return await readFile(resolve(path), 'utf8')
  } catch (error) {
    const reason = codeOf(error) === 'ENOENT' ? 'the file does not exist' : messageOf(error)
    throw new CommandError(`${option} ${path}: ${reason}.`, { cause: error })
  }
}

const failure = (path: string, reason: string, cause?: unknown): CommandError =>
  new CommandError(`--config ${path}: ${reason}`, { cause })

const readJson = async (path: string): Promise<unknown> => {
  const text = await readNamedFile('--config', path)
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    // The error shows only the line and column. The rest of Node's message may quote a secret in the file.
    const place = / \(line \d+ column \d+\)/.exec(messageOf(error))?.[0] ?? ''
    throw failure(path, `the file is not valid JSON${place}.`, error)
  }
}

const readModule = async (path: string): Promise<unknown> => {
  // Checks first that the file exists, because `import` throws the same error code for a missing dependency.
  await readNamedFile('--config', path)
  let module: { readonly config?: unknown; readonly default?: unknown }
  try {
    module = await import(pathToFileURL(resolve(path)).href)
  } catch (error) {
    const reason =
      codeOf(error) === 'ERR_UNKNOWN_FILE_EXTENSION'
        ? 'this version of Node does not read TypeScript. Use Node 22.18 or later, or a .mjs file.'
        : messageOf(error)
    throw failure(path, reason, error)
  }
  const options = module.config ?? module.default
  if (options === undefined) throw failure(path, 'the module exports neither config nor default.')
  return options
}

/**
 * Reads the options of a mock from a file, and checks them.
 *
 * @throws CommandError if options cannot be read from the file; the message names the path
 */
export const readConfigFile = async (path: string): Promise<MockOptions> => {
  const extension = extname(path).toLowerCase()
  if (!/^\.(?:json|[cm]?[jt]s)$/.test(extension)) {
    throw failure(path, 'the file name must end in .json, .js, .mjs or .ts.')
  }
  const options = (await (extension === '.json' ? readJson(path) : readModule(path))) as MockOptions
  try {
    readMockOptions(options)
  } catch (error) {
    throw failure(path, messageOf(error), error)
  }
  return options
}
