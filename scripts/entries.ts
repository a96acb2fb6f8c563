import { existsSync } from 'node:fs'

/** The source of each build entry, by its name under `dist/`. An entry joins the build once its source exists. */
const sources = {
  index: 'src/index.ts',
  notifications: 'src/notifications/index.ts',
  stores: 'src/stores/index.ts',
  'mocks/index': 'mocks/index.ts',
  'mocks/core': 'mocks/core.ts',
  'mocks/server': 'mocks/server.ts',
  'mocks/cli': 'mocks/cli.ts',
}

/** The build entries whose source exists: name under `dist/` without extension, and source file. */
export const entries: Record<string, string> = Object.fromEntries(
  Object.entries(sources).filter(([, source]) => existsSync(new URL(`../${source}`, import.meta.url))),
)
