import { record } from 'mandatekit/mocks/core'
import { expect, test } from 'vitest'

const login = {
  grant_type: 'password',
  client_id: 'shop-1',
  client_secret: 's3c',
  username: 'bob',
  password: 'p@ss word',
}

/** Returns the line that records a login with a body. */
const recorded = async (body: BodyInit, type?: string): Promise<string> => {
  const lines: string[] = []
  const send = record(
    async () => Response.json({ errorCode: '01', errorMessage: 'No.' }, { status: 401 }),
    (recording) => lines.push(JSON.stringify(recording)),
  )
  const headers = new Headers(type === undefined ? {} : { 'content-type': type })
  await send('https://sandbox.example/oauth/token', { method: 'POST', headers, body })
  return lines.join('')
}

test.each(['application/x-www-form-urlencoded', 'text/plain'])(
  'a recorded form keeps no field of the login, however short: %s',
  async (type) => {
    const line = await recorded(new URLSearchParams(login).toString(), type)
    expect(line).toContain('grant_type=password&client_id=redacted-clientid-1')
    for (const secret of ['shop-1', 's3c', 'bob', 'p%40ss', 'p@ss']) expect(line).not.toContain(secret)
  },
)

test('a recorded multipart form keeps no field of the login', async () => {
  const form = new FormData()
  for (const [name, value] of Object.entries(login)) form.set(name, value)
  const line = await recorded(form)
  expect(line).toContain('redacted-clientsecret-1')
  for (const secret of ['shop-1', 's3c', 'bob', 'p@ss']) expect(line).not.toContain(secret)
})
