const { smoke } = require('./smoke.cjs')

smoke({ ...require('mandatekit'), ...require('mandatekit/mocks/core') }).then(console.log, (error) => {
  console.error(error)
  process.exitCode = 1
})
