import { readFile } from 'node:fs/promises'
import { extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { MockOptions } from '../options.ts'
import { CommandError, codeOf, messageOf } from './arguments.ts'

const MODULES = new Set(['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts'])

/** Reads a text file that an option names. Throws a CommandError that says which one cannot be read. */
export const readNamedFile = async (option: string, path: string): Promise<string> => {
  try {
    return await readFile(resolve(path), 'utf8')
  } catch (error) {
    const reason = codeOf(error) === 'ENOENT' ? 'there is no such file' : messageOf(error)
    throw new CommandError(`${option} ${path}: ${reason}.`, { cause: error })
  }
}

const patternOf = (path: string, text: string): RegExp => {
  try {
    return new RegExp(text)
  } catch (error) {
    throw new CommandError(
      `--config ${path}: subscriptions.amountPattern is no regular expression: ${messageOf(error)}.`,
      { cause: error },
    )
  }
}

/** JSON has no regular expressions: the one option that is one stands there as text. */
const withPattern = (path: string, options: unknown): unknown => {
  const { subscriptions } = (options ?? {}) as {
    readonly subscriptions?: { readonly amountPattern?: unknown }
  }
  const pattern = subscriptions?.amountPattern
  if (typeof pattern !== 'string') return options
  return {
    ...(options as object),
    subscriptions: { ...subscriptions, amountPattern: patternOf(path, pattern) },
  }
}

const readJson = async (path: string): Promise<unknown> => {
  const text = await readNamedFile('--config', path)
  let options: unknown
  try {
    options = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    // The platform's message may quote a piece of the text, which may hold a secret.
    const place = / \(line \d+ column \d+\)/.exec(messageOf(error))?.[0] ?? ''
    throw new CommandError(`--config ${path}: it is not JSON${place}.`, { cause: error })
  }
  return withPattern(path, options)
}

const readModule = async (path: string): Promise<unknown> => {
  // A file that is missing is told from a module in it that is missing.
  await readNamedFile('--config', path)
  let module: { readonly config?: unknown; readonly default?: unknown }
  try {
    module = await import(pathToFileURL(resolve(path)).href)
  } catch (error) {
    if (codeOf(error) === 'ERR_UNKNOWN_FILE_EXTENSION') {
      throw new CommandError(
        `--config ${path}: this Node does not read TypeScript. Take Node 22.18 or later, or a .mjs file.`,
        { cause: error },
      )
    }
    throw new CommandError(`--config ${path}: ${messageOf(error)}`, { cause: error })
  }
  const options = module.config ?? module.default
  if (options === undefined) {
    throw new CommandError(`--config ${path}: it exports neither config nor a default.`)
  }
  return options
}

/**
 * Reads the options of a mock from a file.
 *
 * @returns the options, of which `createMock` checks each
 * @throws CommandError that names the file
 */
export const readConfigFile = async (path: string): Promise<MockOptions> => {
  const extension = extname(path).toLowerCase()
  if (extension !== '.json' && !MODULES.has(extension)) {
    throw new CommandError(`--config ${path}: the file ends in .json, .js, .mjs or .ts.`)
  }
  const options = await (extension === '.json' ? readJson(path) : readModule(path))
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new CommandError(`--config ${path}: the options are an object.`)
  }
  return options as MockOptions
}
