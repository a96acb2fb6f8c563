import * as client from 'mandatekit'
import * as mocks from 'mandatekit/mocks'
import { setupServer } from 'msw/node'
import { smoke } from './smoke.mjs'

const mock = mocks.createMock({ clock: new Date('2027-01-01T06:00:00Z') })
const server = setupServer(...mock.handlers)
server.listen()
console.log(await smoke({ ...client, ...mocks }, { mock, throughGlobalFetch: true }))
server.close()
