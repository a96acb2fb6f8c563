import { expect, test } from 'vitest'
import { createMock, type Recording, record } from '../../mocks/core.ts'

const login = {
  grant_type: 'password',
  client_id: 'client of a stranger',
  client_secret: 'secret+7&Q"x',
  username: 'somebody@shop.example',
  password: 'pass word/81',
}

const multipart = (fields: Readonly<Record<string, string>>): FormData => {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  return form
}

const LOGINS: Readonly<Record<string, RequestInit>> = {
  JSON: { body: JSON.stringify(login), headers: { 'content-type': 'application/json' } },
  'a form': { body: new URLSearchParams(login) },
  'a form without its content type': { body: String(new URLSearchParams(login)) },
  'a form with a field twice': { body: `${new URLSearchParams(login)}&password=another%20pass` },
  'a multipart form': { body: multipart(login) },
  'JSON that ends early': { body: JSON.stringify({ ...login, padding: 'x'.repeat(9) }).slice(0, -12) },
}

const SHORT = {
  grant_type: 'password',
  client_id: 'shop-1',
  client_secret: 's3c',
  username: 'bob',
  password: 'p@ "s',
}
const asText = JSON.stringify({ ...SHORT, padding: 'x'.repeat(9) }).slice(0, -12)

test.each([
  ['JSON that ends early', asText],
  ['a form', String(new URLSearchParams(SHORT))],
  ['a multipart form', multipart(SHORT)],
])('a short secret is replaced too, as the whole value of a field of %s', async (_, body) => {
  const lines: string[] = []
  const fetch = record(createMock().fetch, (recording) => lines.push(JSON.stringify(recording.request.body)))
  await fetch('https://subscriptions.mandatekit.test/oauth/token', { method: 'POST', body })
  expect(lines[0]).toContain('redacted-clientsecret-1')
  expect(lines[0]).toContain('redacted-password-1')
  for (const part of ['shop-1', 's3c', 'bob', 'p@', 'p%40']) expect(lines[0]).not.toContain(part)
})

test.each(Object.entries(LOGINS))(
  'a login as %s is recorded without a secret, although nobody named the secrets',
  async (_, init) => {
    const mock = createMock()
    const recordings: Recording[] = []
    const fetch = record(mock.fetch, (recording) => recordings.push(recording))
    await fetch(`${mock.clientOptions.subscriptions.baseUrl}/oauth/token`, { method: 'POST', ...init })
    const [recorded] = recordings.map((recording) => JSON.stringify(recording))
    expect(recorded).toContain('redacted-password-1')
    for (const secret of [
      login.client_id,
      login.client_secret,
      login.username,
      login.password,
      'another pass',
    ])
      for (const form of [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
        expect(recorded).not.toContain(form)
  },
)

test('after a recording that could not be written, no further request is sent', async () => {
  const mock = createMock()
  const fetch = record(mock.fetch, () => Promise.reject(new Error('No space left')))
  const { baseUrl } = mock.clientOptions.gateway
  await expect(fetch(`${baseUrl}/health`)).resolves.toHaveProperty('status', 200)
  await expect(fetch(`${baseUrl}/health`)).rejects.toThrow('An earlier recording could not be written.')
  expect(mock.requests.all()).toHaveLength(1)
})
