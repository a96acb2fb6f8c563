import { createMock } from 'mandatekit/mocks'
import { HttpResponse, http } from 'msw'
import { setupWorker } from 'msw/browser'
import { createScenarios, type Scenarios } from './scenarios.ts'

/** What the page holds for the test that drives it. */
export interface BrowserPage {
  readonly scenarios: Scenarios
  /** The text at an address. */
  read(url: string): Promise<string>
  /** The text of the gateway's health, while a handler of the user answers it, and after that. */
  readWithOwnHandler(): Promise<readonly string[]>
}

declare global {
  interface Window {
    mandatekit?: Promise<BrowserPage>
  }
}

const open = async (): Promise<BrowserPage> => {
  const mock = createMock({ clock: '2027-01-01T06:00:00Z' })
  const worker = setupWorker(...mock.handlers)
  await worker.start({ quiet: true })
  const read = async (url: string) => (await fetch(url)).text()
  const health = `${mock.clientOptions.gateway.baseUrl}/health`
  return {
    scenarios: createScenarios(mock),
    read,
    async readWithOwnHandler() {
      worker.use(http.get(health, () => HttpResponse.text('mine')))
      const mine = await read(health)
      worker.resetHandlers()
      return [mine, await read(health)]
    },
  }
}

window.mandatekit = open()
