/** The source of each build entry, by its name under `dist/` without extension. */
export const entries: Readonly<Record<string, string>> = {
  index: 'src/index.ts',
  contract: 'src/contract/index.ts',
  notifications: 'src/notifications/index.ts',
  stores: 'src/stores/index.ts',
  'mocks/index': 'mocks/index.ts',
  'mocks/core': 'mocks/core.ts',
  'mocks/server': 'mocks/server.ts',
  'mocks/cli': 'mocks/cli.ts',
}
