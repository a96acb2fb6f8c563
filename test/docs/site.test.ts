import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ConsumerProject, repository } from '../package/project.ts'

// `npm run docs` builds the site and then runs this check on it.

let site: ConsumerProject

const check = () => site.run(process.execPath, join(repository, 'scripts/check-site.ts'), site.folder)

beforeAll(async () => {
  site = await ConsumerProject.create()
  await site.write('pages/b c.html', '<h1 id="part-1">B</h1><a href="../index.html">up</a>')
})

afterAll(() => site.remove())

describe('the check of the reference site', () => {
  test.each([
    ['pages/b%20c.html#part-1', ''],
    ['https://example.test/gone', ''],
    ['#top', ''],
    ['pages/b%20c.html?a=1&amp;b=2#part-1', ''],
    ['gone.html', 'index.html: gone.html: no such file'],
    ['pages', 'index.html: pages: no such file'],
    ['../outside.html', 'index.html: ../outside.html: no such file'],
    ['pages/b%20c.html#part-2', 'index.html: pages/b%20c.html#part-2: no such anchor'],
    ['#part-1', 'index.html: #part-1: no such anchor'],
  ])('the link %s: %j', async (link, complaint) => {
    await site.write('index.html', `<p id="top"><a class="x" href="${link}">link</a></p>`)
    const { exitCode, output } = await check()
    expect(output.replace(/^2 pages .*\n/m, '').trim()).toBe(complaint)
    expect(exitCode).toBe(complaint === '' ? 0 : 1)
  })

  test('a picture or script that does not exist is a dead link too', async () => {
    await site.write('index.html', '<script src="gone.js"></script><img alt="" src="gone.svg">')
    expect((await check()).output.match(/no such file/g)).toHaveLength(2)
  })
})

test('the docs script checks what it has built, and the site workflow runs it', async () => {
  const { scripts } = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8'))
  expect(scripts.docs).toBe('typedoc && node scripts/openapi-site.ts && node scripts/check-site.ts')
  const workflow = await readFile(join(repository, '.github/workflows/site.yml'), 'utf8')
  expect(workflow).toContain('- run: npm run docs\n')
})
