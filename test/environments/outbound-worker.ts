import { GatewayClient, isMandateKitError } from 'mandatekit'
import { CHARGE_REQUEST } from '../support/bodies.ts'

/** What the test gives the worker. */
interface Bindings {
  readonly BASE_URL: string
  readonly API_KEY: string
}

/** A charge through the runtime's own fetch, and one to a port where nobody listens. */
const worker = {
  async test(_controller: unknown, { BASE_URL: baseUrl, API_KEY: apiKey }: Bindings): Promise<void> {
    // Given by name, as many callers do: this fetch refuses to be called as a method of anything else.
    for (const client of [
      new GatewayClient({ baseUrl, apiKey }),
      new GatewayClient({ baseUrl, apiKey, fetch }),
    ]) {
      const { id } = await client.charge(CHARGE_REQUEST, { idempotencyKey: 'order-1001' })
      if (!id.startsWith('ch_')) throw new Error(`a charge called ${id}`)
    }
    const nowhere = new GatewayClient({ baseUrl: 'http://127.0.0.1:9', apiKey, retry: false })
    const error: unknown = await nowhere.charge(CHARGE_REQUEST).catch((reason: unknown) => reason)
    // A worker's fetch names no reason: nothing proves that the charge was not made.
    if (!isMandateKitError(error) || error.outcome !== 'unknown') throw new Error('not an honest error')
  },
}

// biome-ignore lint/style/noDefaultExport: the runtime looks for the handlers of a module worker under this name
export default worker
