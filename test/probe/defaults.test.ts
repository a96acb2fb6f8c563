import { expect, test } from 'vitest'
import { openSandbox } from './set-up.ts'

test('a mock with default options is found as it is', async () => {
  const { run } = openSandbox()
  const { asked, stopped, options } = await run()
  for (const { question, answer } of asked) expect(stopped).toEqual({})
})
