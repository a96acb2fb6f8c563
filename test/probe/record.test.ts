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

/** A login in every form in which a client may send it. */
const formsOf = (fields: Readonly<Record<string, string>>): readonly (readonly [string, RequestInit])[] => {
  const form = new URLSearchParams(fields)
  const json = JSON.stringify({ ...fields, padding: 'x'.repeat(9) })
  return [
    ['JSON', { body: json, headers: { 'content-type': 'application/json' } }],
    ['JSON that ends early', { body: json.slice(0, -12) }],
    ['a form', { body: form }],
    ['a form without its content type', { body: String(form) }],
    ['a form with a field twice', { body: `${form}&password=another%20pass` }],
    ['a multipart form', { body: multipart(fields) }],
  ]
}
const short = { ...login, client_id: 'shop-1', client_secret: 's3c', username: 'bob', password: 'p@ "s' }

test.each([...formsOf(login), ...formsOf(short)])(
  'a login as %s is recorded without a secret, long or short, although nobody named the secrets: %o',
  async (_, init) => {
    const mock = createMock()
    const recordings: Recording[] = []
    const fetch = record(mock.fetch, (recording) => recordings.push(recording))
    await fetch(`${mock.clientOptions.subscriptions.baseUrl}/oauth/token`, { method: 'POST', ...init })
    const recorded = JSON.stringify(recordings[0])
    expect(recorded).toContain('redacted-clientsecret-1')
    expect(recorded).toContain('redacted-password-1')
    const parts = ['shop-1', 's3c', 'bob', 'p@', 'p%40']
    for (const secret of [...Object.values(login).slice(1), 'another pass', ...parts])
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
