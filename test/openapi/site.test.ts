import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Json } from '../../scripts/openapi/schemas.ts'
import { OPENAPI_PAGE, writeOpenApiPage } from '../../scripts/openapi-site.ts'
import { openPage, withoutBrowser } from '../pages/browser.ts'
import { joined } from './documents.ts'

const operations = Object.entries(Object(joined('http://127.0.0.1:4010').paths)).flatMap(([path, item]) =>
  Object.entries<Json>(Object(item)).map(([method, { tags }]) => {
    const [tag] = Object(tags)
    return `tag/${String(tag).toLowerCase()}/${method.toUpperCase()}${path}`
  }),
)

describe.skipIf(withoutBrowser())('the page of the reference site', () => {
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'openapi-site-'))
    await writeOpenApiPage(folder)
  })
  afterAll(() => rm(folder, { recursive: true }))

  test('shows every operation, without a network and without a message of an error', async () => {
    const page = await openPage()
    onTestFinished(() => page.close())
    const problems: string[] = []
    page.on('pageerror', (error) => problems.push(String(error)))
    page.on('console', (message) => {
      if (/error|warning/.test(message.type())) problems.push(message.text())
    })
    page.on('request', (request) => {
      if (!/^(?:file|data|blob):/.test(request.url())) problems.push(request.url())
    })
    await page.goto(pathToFileURL(join(folder, OPENAPI_PAGE)).href, { waitUntil: 'commit', timeout: 60_000 })
    const links = () =>
      page.evaluate(() =>
        [...document.querySelectorAll('aside a, nav a')].map((link) => link.getAttribute('href')),
      )
    await expect
      .poll(links, { timeout: 90_000 })
      .toEqual(expect.arrayContaining(operations.map((id) => `#${id}`)))
    expect(operations).toHaveLength(16)
    expect(problems).toEqual([])
  }, 120_000)
})
