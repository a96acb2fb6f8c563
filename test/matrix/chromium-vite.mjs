import { chromium } from 'playwright-core'
import { build, preview } from 'vite'

const [executablePath] = process.argv.slice(2)

await build({ root: '.', logLevel: 'error' })
const server = await preview({ root: '.', preview: { host: '127.0.0.1', port: 0 } })
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
try {
  const page = await browser.newPage()
  await page.goto(server.resolvedUrls.local[0])
  await page.waitForFunction('window.result !== undefined')
  const result = await page.evaluate('window.result')
  console.log(result)
  if (result.startsWith('failed')) process.exitCode = 1
} finally {
  await browser.close()
  await server.close()
}
