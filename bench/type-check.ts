import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { report } from './report.ts'

/*
 * What the package's types cost whoever compiles against them, beside a project that does the same with ky and zod
 * alone. By turns; the best round of each. The package is the built one.
 *
 *   node bench/type-check.ts
 */

const ROUNDS = 7
const TARGET = 1.3

const PROJECTS = {
  'ky + zod': `
import ky from 'ky'
import * as z from 'zod/mini'

const charge = z.object({ id: z.string(), amount: z.int(), status: z.string() })
export const made: z.infer<typeof charge> = charge.parse(
  await ky.post('https://gateway.example/api/v1/mfs/charges', { json: { amount: 250 } }).json(),
)
`,
  mandatekit: `
import { GatewayClient, isMandateKitError, SubscriptionsClient } from 'mandatekit'

const gateway = new GatewayClient({ baseUrl: 'https://gateway.example', apiKey: 'key' })
export const subscriptions = new SubscriptionsClient({
  baseUrl: 'https://subscriptions.example',
  credentials: { clientId: 'id', clientSecret: 'secret', username: 'user', password: 'word' },
})
try {
  const { id, amount } = await gateway.charge({ msisdn: '1', amount: 250, currency: 'BDT', redirect_uri: '' })
  console.log(id, amount + 1)
} catch (error) {
  if (isMandateKitError(error)) console.log(error.code, error.outcome)
}
`,
}
type Project = keyof typeof PROJECTS
const names = Object.keys(PROJECTS) as Project[]

const repository = fileURLToPath(new URL('..', import.meta.url))
const run = promisify(execFile)
const folder = await mkdtemp(join(tmpdir(), 'mandatekit-types-'))

const prepare = async (): Promise<void> => {
  const modules = { mandatekit: '.', ky: 'node_modules/ky', zod: 'node_modules/zod' }
  for (const [name, source] of Object.entries(modules)) {
    const link = join(folder, 'node_modules', name)
    await mkdir(dirname(link), { recursive: true })
    await symlink(join(repository, source), link)
  }
  for (const name of names) {
    const compilerOptions = {
      module: 'nodenext',
      target: 'es2023',
      lib: ['es2023', 'dom', 'dom.iterable'],
      types: [],
      strict: true,
      noEmit: true,
      skipLibCheck: true,
    }
    await mkdir(join(folder, name))
    await writeFile(join(folder, name, 'package.json'), '{ "type": "module" }')
    await writeFile(join(folder, name, 'index.ts'), PROJECTS[name])
    await writeFile(
      join(folder, name, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: ['index.ts'] }),
    )
  }
}

/** Seconds that the compiler says it took, all phases together. */
const secondsOf = async (name: Project): Promise<number> => {
  const tsc = join(repository, 'node_modules/typescript/bin/tsc')
  const { stdout } = await run(process.execPath, [tsc, '--extendedDiagnostics', '-p', name], { cwd: folder })
  return Number(/^Total time:\s+([\d.]+)s/m.exec(stdout)?.[1])
}

try {
  await prepare()
  const best = new Map<Project, number>()
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of names) {
      best.set(name, Math.min(best.get(name) ?? Number.POSITIVE_INFINITY, await secondsOf(name)))
    }
  }
  console.table(names.map((name) => ({ project: name, seconds: best.get(name)?.toFixed(2) })))
  const ratio = (best.get('mandatekit') ?? Number.NaN) / (best.get('ky + zod') ?? Number.NaN)
  report({
    what: 'type-check of a program with mandatekit / with ky and zod',
    target: `≤ ${TARGET}`,
    measured: ratio.toFixed(2),
    ok: ratio <= TARGET,
  })
} finally {
  await rm(folder, { recursive: true, force: true })
}
