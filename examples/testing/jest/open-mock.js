const { GatewayClient, SubscriptionsClient } = require('mandatekit')
const { createMock } = require('mandatekit/mocks/core')

/**
 * Creates a mock with a fixed time, and clients that call the mock through `fetch`. A test can have several mocks
 * at the same time, because nothing is global.
 */
function openMock() {
  const mock = createMock({ clock: new Date('2027-01-01T06:00:00Z') })
  const { clientOptions, fetch } = mock
  return {
    mock,
    gateway: new GatewayClient({ ...clientOptions.gateway, fetch }),
    subscriptions: new SubscriptionsClient({ ...clientOptions.subscriptions, fetch }),
    /** Returns the id of a mandate: a charge that its payer has confirmed. */
    async mandate(/** @type {string} */ msisdn) {
      const gateway = new GatewayClient({ ...clientOptions.gateway, fetch })
      const request = { msisdn, amount: 250, currency: 'BDT', redirect_uri: 'https://shop.example/paid' }
      const charge = await gateway.charge(request)
      mock.payer.confirm(charge.confirmation_id)
      return charge.id
    },
  }
}

module.exports = { openMock }
