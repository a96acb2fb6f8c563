import * as client from 'mandatekit'
import * as mocks from 'mandatekit/mocks/core'
import { playCases, throughFetch } from './cases.mjs'
import { smoke } from './smoke.mjs'

export default {
  async test() {
    console.log(await playCases(client, throughFetch))
    console.log(await smoke({ ...client, ...mocks }))
  },
}
