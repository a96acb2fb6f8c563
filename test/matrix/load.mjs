import * as client from 'mandatekit'
import * as mocks from 'mandatekit/mocks/core'
import { smoke } from './smoke.mjs'

console.log(await smoke({ ...client, ...mocks }))
