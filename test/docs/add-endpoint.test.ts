import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ConsumerProject, repository } from '../package/project.ts'

// CONTRIBUTING.md promises that an endpoint is a change of three files and their tests. This is that change.

const patch = fileURLToPath(new URL('add-endpoint.patch', import.meta.url))
const CONTRACT = 'src/contract/gateway.ts'
const CLIENT = 'src/gateway-client.ts'
const RESOLVER = 'mocks/http/gateway-area.ts'

let copy: ConsumerProject

/** Brings the sources of the repository into the copy, and applies the patch to all of them but some. */
async function applyPatch(...but: string[]): Promise<void> {
  for (const folder of ['src', 'mocks', 'test/client', 'test/support']) {
    await rm(join(copy.folder, folder), { recursive: true, force: true })
    await cp(join(repository, folder), join(copy.folder, folder), { recursive: true })
  }
  const applied = await copy.run('git', 'apply', ...but.map((path) => `--exclude=${path}`), patch)
  // Lines around the change may move on: apply it by hand then, and write the patch anew with `git diff -U1`.
  expect(applied).toEqual({ exitCode: 0, output: '' })
}

const compile = () => copy.compile('tsconfig.json')

beforeAll(async () => {
  copy = await ConsumerProject.create()
  for (const folder of ['scripts', 'openapi'])
    await cp(join(repository, folder), join(copy.folder, folder), { recursive: true })
  for (const file of ['package.json', 'vitest.config.ts']) {
    await cp(join(repository, file), join(copy.folder, file))
  }
  await copy.link('')
  const configuration = {
    extends: join(repository, 'tsconfig.json'),
    compilerOptions: { paths: {}, typeRoots: [join(repository, 'node_modules/@types')] },
    include: ['src/index.ts', 'mocks/core.ts', 'test/client/events.test.ts', 'test/client/outcomes.test.ts'],
  }
  await writeFile(join(copy.folder, 'tsconfig.json'), JSON.stringify(configuration))
})

afterAll(() => copy.remove())

test('adding an endpoint changes only the contract, the client, the resolver and tests', async () => {
  const text = await readFile(patch, 'utf8')
  const touched = [...text.matchAll(/^\+\+\+ b\/(.+)$/gm)].map(([, path = '']) => path)
  expect(touched.filter((path) => !path.startsWith('test/')).sort()).toEqual(
    [RESOLVER, CONTRACT, CLIENT].sort(),
  )
})

test('it compiles and its tests pass', async () => {
  await applyPatch()
  expect(await compile()).toEqual({ exitCode: 0, output: '' })
  const tests = ['test/client/events.test.ts', 'test/client/outcomes.test.ts']
  const names = 'leaves an event|every operation is in the matrix|the response is 503'
  const run = await copy.runTool('vitest', 'run', '--project', 'unit', ...tests, '-t', names)
  expect(run.exitCode, run.output).toBe(0)
})

test('without the resolver, and without the client method, it does not compile', async () => {
  await applyPatch(RESOLVER, CLIENT)
  const { output } = await compile()
  const broken = output.match(/^\S+(?=\(\d+,\d+\): error .*events)/gm) ?? []
  expect(broken).toEqual(expect.arrayContaining([RESOLVER, 'test/client/events.test.ts']))
})
