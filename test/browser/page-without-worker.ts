import { GatewayClient } from 'mandatekit'

declare global {
  interface Window {
    /** The package, for the test that drives the page. */
    mandatekitClient: { GatewayClient: typeof GatewayClient }
  }
}

window.mandatekitClient = { GatewayClient }
