/** The package's version, which `npm run release:version` writes. */
const VERSION = '0.1.0'

/** Returns the header User-Agent, except in browsers, which send their own User-Agent. */
export const agentHeader = (): Readonly<Record<string, string>> => {
  const { userAgent = '' } = globalThis.navigator ?? {}
  if (userAgent.startsWith('Mozilla')) return {}
  return { 'user-agent': `mandatekit/${VERSION}${userAgent && ` (${userAgent})`}` }
}
