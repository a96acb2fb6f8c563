import * as client from 'mandatekit'
import * as mocks from 'mandatekit/mocks/core'
import { smoke } from './smoke.mjs'

export default {
  async test() {
    console.log(await smoke({ ...client, ...mocks }))
  },
}
