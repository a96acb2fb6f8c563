import { expect, test } from 'vitest'
import { openSandbox } from './set-up.ts'

test('a mock with default options is found as it is', async () => {
  const { run } = openSandbox()
  const { asked, stopped, options } = await run()
  console.log(JSON.stringify(options, null, 1))
  for (const { question, answer } of asked)
    console.log(question.area[0], question.row, question.level, JSON.stringify(answer))
  expect(stopped).toEqual({})
})
