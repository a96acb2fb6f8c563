import { test } from 'node:test'
import * as client from 'mandatekit'
import * as mocks from 'mandatekit/mocks/core'
import { smoke } from './smoke.mjs'

test('a subscription and a charge', async () => {
  await smoke({ ...client, ...mocks })
})
