import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { entries } from './scripts/entries.ts'

/** In tests the package's name means its sources, so that no class exists twice. */
const sources = Object.entries(entries).map(([entry, source]) => ({
  find: new RegExp(`^${`mandatekit/${entry}`.replace(/\/index$/, '')}$`),
  replacement: fileURLToPath(new URL(source, import.meta.url)),
}))

export default defineConfig({
  resolve: { alias: sources },
  test: {
    restoreMocks: true,
    setupFiles: ['test/support/unstub.ts'],
    // Many tests wait for a timer, a browser or a process: one worker more than cores leaves none idle.
    maxWorkers: availableParallelism() + 1,
    // The processes that tests start keep their compiled sources here, which halves their start-up.
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL('node_modules/.cache/tests', import.meta.url)) },
    // A busy machine may take long: no verdict depends on these limits.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/{package,docs,editor,examples}/**'],
          // Nothing of the package is global: files share a process, and load the sources once.
          isolate: false,
        },
      },
      {
        // Tests of the artifact and of the documents: the package is built and packed once before them.
        extends: true,
        test: {
          name: 'package',
          include: ['test/{package,docs,editor,examples}/**/*.test.ts'],
          globalSetup: ['test/package/build-and-pack.ts'],
          isolate: false,
          sequence: { groupOrder: 1 },
          testTimeout: 120_000,
          hookTimeout: 240_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'types',
          include: [],
          typecheck: {
            enabled: true,
            only: true,
            checker: 'node_modules/typescript7/bin/tsc',
            include: ['test/**/*.test-d.ts'],
            tsconfig: './tsconfig.types.json',
          },
        },
      },
    ],
  },
})
