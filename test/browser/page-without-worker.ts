import { GatewayClient, isMandateKitError } from 'mandatekit'
import type { GatewayClientConfig } from 'mandatekit/mocks/core'

type Address = Pick<GatewayClientConfig, 'baseUrl' | 'apiKey'>

/** What this page holds for the test that drives it. */
export interface PlainPage {
  /** A charge that is confirmed, on a server of another origin. */
  charge(address: Address, msisdn: string): Promise<{ readonly status: string; readonly keys: number }>
  /** How a call with a wrong key fails. */
  failure(address: Address): Promise<readonly unknown[]>
  /** Status and the named headers of an answer, as far as this page may read them. */
  headers(url: string, names: readonly string[], init?: RequestInit): Promise<readonly unknown[]>
}

declare global {
  interface Window {
    mandatekitPlain?: PlainPage
  }
}

window.mandatekitPlain = {
  async charge(address, msisdn) {
    const client = new GatewayClient(address)
    const request = { msisdn, amount: 250, currency: 'BDT', redirect_uri: 'https://shop.example/paid' }
    const { data, response } = await client.charge(request).withResponse()
    const again = await client.charge(request, { idempotencyKey: response.idempotencyKey ?? '' })
    const { status } = await client.confirm(data.confirmation_id, { otp: '123456', chargeId: data.id })
    return { status: String(status), keys: new Set([data.id, again.id]).size }
  },
  async failure(address) {
    const reason: unknown = await new GatewayClient(address).status('ch_1').catch((error: unknown) => error)
    return isMandateKitError(reason) ? [reason.code, reason.outcome] : [String(reason)]
  },
  async headers(url, names, init) {
    const answer = await fetch(url, init)
    return [answer.status, ...names.map((name) => answer.headers.get(name))]
  },
}
