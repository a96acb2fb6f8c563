const { smoke } = require('./smoke.cjs')

test('a subscription and a charge', async () => {
  await smoke({ ...require('mandatekit'), ...require('mandatekit/mocks/core') })
})
