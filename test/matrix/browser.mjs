import * as client from 'mandatekit'
import * as mocks from 'mandatekit/mocks/core'
import { smoke } from './smoke.mjs'

window.result = smoke({ ...client, ...mocks }).catch((error) => `failed: ${error.stack}`)
