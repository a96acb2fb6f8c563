import { Window } from 'happy-dom'
import { createMock } from 'mandatekit/mocks/core'
import { expect, test } from 'vitest'
import { startServer } from '../support/mock-server.ts'
import { joined } from './documents.ts'

test('a server responds with the joined document, which names its own URL', async () => {
  const { url } = await startServer()
  const response = await fetch(`${url}/openapi.json`)
  expect(response.headers.get('content-type')).toBe('application/json')
  expect(response.headers.get('access-control-allow-origin')).toBe('*')
  expect(await response.json()).toEqual(joined(url))
})

test('the document names publicUrl and the prefixes of the mock, also without the panel', async () => {
  const mock = createMock({ subscriptions: { apiPrefix: '/v2' }, gateway: { apiPrefix: '' } })
  const { url } = await startServer({ mock, panel: false, publicUrl: 'https://pay.example/mock' })
  const { servers, paths } = await (await fetch(`${url}/openapi.json`)).json()
  expect(servers[0].url).toBe('https://pay.example/mock')
  expect(Object.keys(paths)).toEqual(
    expect.arrayContaining(['/v2/subscribe', '/mfs/charges', '/oauth/token']),
  )
  expect(Object.keys(paths).length).toBe(15)
})

test('a page without script shows every operation and schema, and the panel links to it', async () => {
  const { url } = await startServer()
  const response = await fetch(`${url}/openapi`)
  expect(response.headers.get('content-security-policy')).toMatch(/^(?=.*default-src 'none')(?!.*script-src)/)
  const { document } = new Window()
  document.write(await response.text())
  const { paths, components } = joined(url)
  const operations = Object.values(Object(paths)).flatMap((item) => Object.values(Object(item)))
  for (const { operationId } of operations.map(Object))
    expect(document.getElementById(operationId)).not.toBeNull()
  for (const name of Object.keys(Object(components).schemas))
    expect(document.getElementById(`schema-${name}`)).not.toBeNull()
  const targets = [...document.querySelectorAll('a[href^="#"]')].map((link) =>
    link.getAttribute('href')?.slice(1),
  )
  expect(targets.filter((id) => document.getElementById(id ?? '') === null)).toEqual([])
  expect(document.querySelectorAll('script').length).toBe(0)
  expect(document.body.textContent).not.toMatch(/\]\(https|`/)
  expect(await (await fetch(`${url}/_mock/connect`)).text()).toContain('href="/openapi"')
})

test('other methods on these paths get the response of an unknown path', async () => {
  const { url } = await startServer()
  const head = await fetch(`${url}/openapi.json`, { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
  expect((await fetch(`${url}/openapi.json`, { method: 'POST' })).status).toBe(404)
})
