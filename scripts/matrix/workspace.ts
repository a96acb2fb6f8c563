import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { transform } from 'esbuild'

const repository = fileURLToPath(new URL('../..', import.meta.url))
const templates = join(repository, 'test/matrix')

/** A command without a shell: program and arguments. */
export type Command = readonly [program: string, ...parameters: string[]]

/** One environment of the matrix. */
export interface Row {
  readonly name: string
  /** Module system of the project. */
  readonly type?: 'module' | 'commonjs'
  /** Files that the project starts with: those of test/matrix by name, or a new name and where it comes from. */
  readonly files: readonly (string | readonly [name: string, template: string])[]
  /** Files made for this row: name and text. */
  readonly made?: Readonly<Record<string, string>>
  /** What is installed besides the package, for example `msw@3.0.5`. */
  readonly install?: readonly string[]
  /** What is run, one after the other; each must end with 0. */
  readonly commands: readonly Command[]
  /** What the last command must print. */
  readonly prints?: string
}

/** How a row ended; `failure` is what it printed. */
export interface RowResult {
  readonly name: string
  readonly seconds: number
  readonly failure: string | undefined
}

const COMMAND_LIMIT = 420_000

/** The temporary folder of one run: the tools, npm's cache, and a fresh project for each row below the tools. */
export class Workspace {
  readonly #folder: string
  readonly #temporary: boolean
  #tarball = ''
  #projects = 0

  private constructor(folder: string, temporary: boolean) {
    this.#folder = folder
    this.#temporary = temporary
  }

  /** Packs the package and installs the tools. The folder is removed by `close`, unless it was given. */
  static async open(folder: string | undefined): Promise<Workspace> {
    const at = folder ?? (await mkdtemp(join(tmpdir(), 'mandatekit-matrix-')))
    const workspace = new Workspace(at, folder === undefined)
    try {
      await workspace.#prepare()
    } catch (error) {
      await workspace.close()
      throw error
    }
    return workspace
  }

  async #prepare(): Promise<void> {
    await mkdir(join(this.#folder, 'temporary'), { recursive: true })
    await rm(join(this.#folder, 'projects'), { recursive: true, force: true })
    await this.#must(repository, ['npm', 'run', '--silent', 'build'])
    const packed = await this.#must(repository, [
      'npm',
      'pack',
      '--json',
      '--ignore-scripts',
      '--pack-destination',
      this.#folder,
    ])
    const [{ filename } = { filename: '' }]: { filename: string }[] = Object.values(JSON.parse(packed))
    this.#tarball = join(this.#folder, filename)
    // Only what is named by path is used from here: the peers stand for what the projects install themselves.
    const { peerDependencies: _, ...manifest } = JSON.parse(
      await readFile(join(templates, 'package.json'), 'utf8'),
    )
    await writeFile(join(this.#folder, 'package.json'), JSON.stringify(manifest, null, 2))
    await this.#install(this.#folder)
  }

  /** Installs what a folder needs. A second try is enough for a connection that broke. */
  async #install(folder: string, ...parameters: readonly string[]): Promise<void> {
    const install: Command = ['npm', 'install', '--no-audit', '--no-fund', ...parameters]
    await this.#must(folder, install).catch(() => this.#must(folder, install))
  }

  /** The path of a file of an installed tool, for example `node22/bin/node`. */
  tool(path: string): string {
    return join(this.#folder, 'node_modules', path)
  }

  /** A folder for what tools cache. */
  get cache(): string {
    return join(this.#folder, 'temporary')
  }

  /** Makes the project of a row and runs its commands there. */
  async run(row: Row): Promise<RowResult> {
    const started = performance.now()
    const result = (failure: string | undefined): RowResult => ({
      name: row.name,
      seconds: (performance.now() - started) / 1000,
      failure,
    })
    try {
      const project = await this.#createProject(row)
      let output = ''
      for (const command of row.commands) output = await this.#must(project, command)
      const missing = row.prints !== undefined && !output.includes(row.prints)
      return result(missing ? `It does not print "${row.prints}":\n${output}` : undefined)
    } catch (error) {
      return result(error instanceof Error ? error.message : String(error))
    }
  }

  async #createProject({ type = 'module', files, made = {}, install = [] }: Row): Promise<string> {
    this.#projects += 1
    const project = join(this.#folder, 'projects', String(this.#projects))
    await mkdir(project, { recursive: true })
    await writeFile(join(project, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type }))
    for (const file of files) {
      const [name, template] = typeof file === 'string' ? [file, file] : file
      await cp(join(templates, template), join(project, name))
    }
    for (const [name, text] of Object.entries(made)) await writeFile(join(project, name), text)
    await this.#writeSmoke(project)
    await this.#install(project, '--omit=peer', '--prefer-offline', this.#tarball, ...install)
    return project
  }

  /** The smoke in both module formats. */
  async #writeSmoke(project: string): Promise<void> {
    const smoke = await readFile(join(templates, 'smoke.mjs'), 'utf8')
    await writeFile(join(project, 'smoke.mjs'), smoke)
    await writeFile(join(project, 'smoke.cjs'), (await transform(smoke, { format: 'cjs' })).code)
  }

  /** Runs a command to its end and gives back what it printed; throws with it when the command fails. */
  #must(cwd: string, [program, ...parameters]: Command): Promise<string> {
    const options = {
      cwd,
      timeout: COMMAND_LIMIT,
      maxBuffer: 64 * 1024 * 1024,
      env: this.#environment(),
    }
    return new Promise((resolve, reject) => {
      execFile(program, parameters, options, (error, stdout, stderr) => {
        if (error === null) resolve(stdout + stderr)
        else reject(new Error(`${error.message}\n${stdout}${stderr}`.trim(), { cause: error }))
      })
    })
  }

  /** The environment without npm's variables for the repository, and with every cache in the folder. */
  #environment(): NodeJS.ProcessEnv {
    const own = Object.entries(process.env).filter(
      ([name]) => !/^(npm_(?!config_)|NODE_OPTIONS$|INIT_CWD$|CI$)/i.test(name),
    )
    return {
      ...Object.fromEntries(own),
      npm_config_cache: join(this.#folder, 'npm-cache'),
      DENO_DIR: join(this.cache, 'deno'),
      BUN_INSTALL_CACHE_DIR: join(this.cache, 'bun'),
      TMPDIR: this.cache,
      NO_COLOR: '1',
    }
  }

  async close(): Promise<void> {
    if (this.#temporary) await rm(this.#folder, { recursive: true, force: true })
  }
}
