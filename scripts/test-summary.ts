import { readFileSync } from 'node:fs'

// Usage: test-summary.ts <vitest's JSON report> <exit code of the test run> <number of other steps that failed>
// Prints what failed and, last, `N passed, N failed`. Each failed step counts as one failure. Where no test may be
// skipped (MANDATEKIT_NO_SKIP=1), a skipped test counts as failed.

interface Report {
  numPassedTests: number
  success: boolean
  testResults: {
    name: string
    status: string
    assertionResults: { status: string; fullName: string }[]
  }[]
}

const [reportFile = '', exitCode = '1', failedSteps = '0'] = process.argv.slice(2)

function readReport(): Report {
  try {
    return JSON.parse(readFileSync(reportFile, 'utf8'))
  } catch (cause) {
    console.error(`No test report at ${reportFile}: ${cause instanceof Error ? cause.message : cause}`)
    return { numPassedTests: 0, success: false, testResults: [] }
  }
}

const report = readReport()
const cases = report.testResults.flatMap((file) => file.assertionResults)
const brokenFiles = report.testResults.filter(
  (file) => file.status === 'failed' && !file.assertionResults.some((one) => one.status === 'failed'),
)
const skipped = cases.filter((one) => !['passed', 'failed'].includes(one.status))
const failures = [
  ...cases.filter((one) => one.status === 'failed').map((one) => `failed: ${one.fullName}`),
  ...brokenFiles.map((file) => `did not load: ${file.name}`),
  ...(process.env.MANDATEKIT_NO_SKIP === '1' ? skipped.map((one) => `skipped: ${one.fullName}`) : []),
]
if (failures.length === 0 && (exitCode !== '0' || !report.success || report.numPassedTests === 0)) {
  failures.push('the test run itself failed')
}

for (const failure of failures) console.log(failure)
const failed = failures.length + Number(failedSteps)
console.log(`${report.numPassedTests} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
