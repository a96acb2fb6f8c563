import { type ExecFileException, execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Packed } from './packed.ts'

/** The folder of the repository. */
export const repository = fileURLToPath(new URL('../..', import.meta.url))

/** How a consumer's code is compiled, besides the module's kind: as strictly as can be. */
export const strictOptions = {
  target: 'es2023',
  lib: ['es2023', 'dom', 'dom.iterable', 'esnext.disposable'],
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noEmit: true,
  skipLibCheck: true,
}

/** How a command ended: its exit code, and what it wrote to both outputs. */
export interface Outcome {
  exitCode: number
  output: string
}

/** Runs a command, without a shell, and waits for its end; it is ended after two minutes. */
function run(
  command: string,
  args: string[],
  cwd: string,
  environment: Record<string, string> = {},
): Promise<Outcome> {
  const env = { ...cleanEnvironment(), ...environment }
  const options = { cwd, timeout: 120_000, maxBuffer: 16 * 1024 * 1024, env }
  return new Promise((resolve) => {
    execFile(command, args, options, (error: ExecFileException | null, stdout, stderr) => {
      const exitCode = error === null ? 0 : typeof error.code === 'number' ? error.code : 1
      resolve({ exitCode, output: `${stdout}${stderr}` })
    })
  })
}

/** Runs a program of the repository on this Node. */
export function runNode(args: string[], environment: Record<string, string> = {}): Promise<Outcome> {
  return run(process.execPath, args, repository, environment)
}

/** The environment without what npm and vitest put there for the repository itself. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(npm_(?!config_)|VITEST|NODE_OPTIONS$|INIT_CWD$)/i.test(name),
  )
  return Object.fromEntries(own)
}

/** A folder of a consumer of the package, outside of the repository. */
export class ConsumerProject {
  readonly folder: string

  private constructor(folder: string) {
    this.folder = folder
  }

  /** Makes an empty project (an ES module package) in a new folder. */
  static async create(): Promise<ConsumerProject> {
    const project = new ConsumerProject(await mkdtemp(join(tmpdir(), 'mandatekit-consumer-')))
    await project.write('package.json', JSON.stringify({ name: 'consumer', private: true, type: 'module' }))
    return project
  }

  /** Makes a project in which a tarball of the package is installed, and nothing else. */
  static async withPackage({ installed }: Packed): Promise<ConsumerProject> {
    const project = await ConsumerProject.create()
    const options = { recursive: true, verbatimSymlinks: true }
    await cp(installed, join(project.folder, 'node_modules'), options)
    return project
  }

  async write(path: string, text: string): Promise<void> {
    await mkdir(dirname(join(this.folder, path)), { recursive: true })
    await writeFile(join(this.folder, path), text)
  }

  /** Makes a development dependency of the repository available here, optionally under another name. */
  async link(name: string, source = name): Promise<void> {
    const target = join(this.folder, 'node_modules', name)
    await mkdir(dirname(target), { recursive: true })
    await symlink(join(repository, 'node_modules', source), target)
  }

  run(command: string, ...args: string[]): Promise<Outcome> {
    return run(command, args, this.folder)
  }

  /** Runs a development tool of the repository by its command's name. */
  runTool(name: string, ...args: string[]): Promise<Outcome> {
    return run(join(repository, 'node_modules/.bin', name), args, this.folder)
  }

  /** Type-checks by the native compiler, which needs a fifth of the time. `npm run matrix` tries the others. */
  compile(configuration: string, compiler = 'typescript7'): Promise<Outcome> {
    const program = join(repository, 'node_modules', compiler, 'bin/tsc')
    return this.run(process.execPath, program, '--pretty', 'false', '-p', configuration)
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true })
  }
}
