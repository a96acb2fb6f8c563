import { afterEach, vi } from 'vitest'

// Vitest's own options restore globals before the next test, which is too late for the `beforeAll` of the next file.
afterEach(() => {
  vi.unstubAllGlobals()
  vi.unstubAllEnvs()
})
