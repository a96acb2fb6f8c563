import type { AreaRuntime } from './http/area.ts'
import type { Base } from './http/locate.ts'
import { normalizedBase } from './http/locate.ts'

/** Where a mock answers, and which addresses it hands out. */
export interface Addresses {
  /** Where the areas answer now. */
  bases(): readonly Base[]
  /** The base URL that area S, or G, hands out now. */
  current(area: AreaRuntime['name']): string
  /** Both areas answer at this URL, too, and hand it out, until the function given back is called. */
  attach(url: string): () => void
}

/** Keeps the addresses of a mock: those of its options, and those of servers in front of it. */
export const createAddresses = (
  own: Readonly<Record<AreaRuntime['name'], string>>,
  areas: () => readonly AreaRuntime[],
): Addresses => {
  let servers: readonly { readonly url: string }[] = []
  let bases: readonly Base[] | undefined

  const serve = (next: readonly { readonly url: string }[]): void => {
    servers = next
    bases = undefined
  }

  return {
    bases() {
      bases ??= areas().flatMap((area) =>
        [own[area.name], ...servers.map(({ url }) => url)].map((url) => ({ url, area })),
      )
      return bases
    },
    current: (area) => servers.at(-1)?.url ?? own[area],
    attach(url) {
      const server = { url: normalizedBase('url', url) }
      serve([...servers, server])
      return () => serve(servers.filter((other) => other !== server))
    },
  }
}
