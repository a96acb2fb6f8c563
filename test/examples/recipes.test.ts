import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { packedPackage } from '../package/packed.ts'
import { ConsumerProject, type Outcome, repository } from '../package/project.ts'
import { withoutBrowser } from '../pages/browser.ts'
import { full } from '../support/sizes.ts'

const packed = await packedPackage()

const recipes = join(repository, 'examples', 'testing')

/** The tools of the recipes that the repository has: they are linked, since installing them again takes long. */
const LINKED = ['msw', 'vitest', '@playwright/test']

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

const readManifest = async (path: string): Promise<Manifest> => JSON.parse(await readFile(path, 'utf8'))

let consumer: ConsumerProject

beforeAll(async () => {
  consumer = await ConsumerProject.withPackage(packed)
  for (const name of LINKED) await consumer.link(name)
})

afterAll(() => consumer.remove())

/** Copies a recipe, with the packed package as its dependency, and runs its own `npm test`. */
const runRecipe = async (recipe: string): Promise<Outcome> => {
  await cp(join(recipes, recipe), join(consumer.folder, recipe), { recursive: true })
  const manifest = await readManifest(join(recipes, recipe, 'package.json'))
  const dependencies = { ...manifest.dependencies, mandatekit: `file:${packed.tarball}` }
  await consumer.write(`${recipe}/package.json`, JSON.stringify({ ...manifest, dependencies }))
  const isLinked = Object.keys(manifest.devDependencies ?? {}).every((name) => LINKED.includes(name))
  const options = ['--prefix', recipe, '--no-audit', '--no-fund', '--prefer-offline', '--omit=peer']
  if (!isLinked) expect(await consumer.run('npm', 'install', ...options)).toMatchObject({ exitCode: 0 })
  const { exitCode, output } = await consumer.run('npm', 'test', '--prefix', recipe)
  return { exitCode, output: stripVTControlCharacters(output) }
}

const results: readonly (readonly [recipe: string, result: RegExp])[] = [
  ['vitest', /Tests\s+14 passed \(14\)/],
  ['node-test', /tests 11\n.*pass 11\n.*fail 0\n.*skipped 0\n/s],
  ['jest', /Tests:\s+8 passed, 8 total/],
  ['playwright', /^ {2}9 passed/m],
]

// Jest is installed from the registry each time, and Playwright starts many browsers: only the full run takes these.
test.for(results.filter(([recipe]) => full || (recipe !== 'jest' && recipe !== 'playwright')))(
  'case 49: with the packed package every test of the recipe in %s passes',
  async ([recipe, result], { skip }) => {
    skip(recipe === 'playwright' && withoutBrowser())
    const { exitCode, output } = await runRecipe(recipe)
    expect(output).toMatch(result)
    expect(exitCode, output).toBe(0)
  },
)

test.each(['vitest', 'node-test', 'jest', 'playwright'])(
  'the recipe in %s depends on the package of its clone, and on the tools that are tested here',
  async (recipe) => {
    const { dependencies, devDependencies = {} } = await readManifest(join(recipes, recipe, 'package.json'))
    const ours = await readManifest(join(repository, 'package.json'))
    const matrix = await readManifest(join(repository, 'test', 'matrix', 'package.json'))
    const versions = { ...matrix.dependencies, ...ours.devDependencies }
    expect(dependencies).toEqual({ mandatekit: 'file:../../..' })
    expect(versions).toMatchObject(devDependencies)
  },
)
