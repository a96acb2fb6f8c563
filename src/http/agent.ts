/** The package's version. `npm run release:version` writes it. */
const VERSION = '0.1.0'

/** Returns the header User-Agent, except in browsers, which have their own. */
export const agentHeader = (): Readonly<Record<string, string>> => {
  const { userAgent = '' } = globalThis.navigator ?? {}
  if (userAgent.startsWith('Mozilla')) return {}
  return { 'user-agent': `mandatekit/${VERSION}${userAgent && ` (${userAgent})`}` }
}
