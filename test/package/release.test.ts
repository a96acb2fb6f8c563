import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ConsumerProject, repository } from './project.ts'

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
  const before = JSON.parse(await readFile(join(copy.folder, 'package.json'), 'utf8')).version
  const sentence = 'A sentence that says what changed.'
  await writeFile(join(copy.folder, '.changeset/a-change.md'), `---\nmandatekit: minor\n---\n\n${sentence}\n`)

  const { exitCode, output } = await copy.runTool('changeset', 'version')
  expect(exitCode, output).toBe(0)

  const { version } = JSON.parse(await readFile(join(copy.folder, 'package.json'), 'utf8'))
  const [major, minor] = String(before).split('.').map(Number)
  expect(version).toBe(`${major}.${(minor ?? 0) + 1}.0`)
  const changelog = await readFile(join(copy.folder, 'CHANGELOG.md'), 'utf8')
  expect(changelog).toContain(`## ${version}`)
  expect(changelog).toContain(sentence)
})

test("the changelog's newest release is the version of the package", async () => {
  const { version } = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8'))
  const changelog = await readFile(join(repository, 'CHANGELOG.md'), 'utf8')
  const newest = changelog.match(/^## (.+)$/m)?.[1] ?? '0.0.0'
  expect(newest).toBe(version)
})
