import type { Area } from '../../src/contract/endpoint.ts'
import type { AreaRuntime } from './area.ts'
import type { ServerAddress } from './response.ts'
import type { Base } from './routes.ts'

/**
 * Keeps the base URLs from the options and the URLs of the running servers.
 *
 * @param hasOwn returns whether the caller's options set the base URL of an area
 */
export const createAddresses = (
  own: Readonly<Record<Area, string>>,
  hasOwn: (area: Area) => boolean,
  areas: readonly AreaRuntime[],
) => {
  let servers: readonly ServerAddress[] = []
  let bases: readonly Base<AreaRuntime>[] | undefined
  /** The address to which the client sent the current request. */
  let requested: ServerAddress | undefined

  const serve = (next: typeof servers): void => {
    servers = next
    bases = undefined
  }

  return {
    /** Returns the base URLs of both areas. */
    bases(): readonly Base<AreaRuntime>[] {
      bases ??= areas.flatMap((area) =>
        [own[area.name], ...servers.flatMap(({ url, publicUrl = url }) => [url, publicUrl])].map((url) => ({
          url,
          area,
        })),
      )
      return bases
    },
    /** Returns the base URL at which clients in this process reach an area. */
    current: (area: Area): string => servers.at(-1)?.url ?? own[area],
    /** Returns the base URL that an area uses in the links of its responses, such as the link to the payer's page. */
    forPayers(area: Area): string {
      const { publicUrl, url } = requested ?? servers.at(-1) ?? {}
      return publicUrl ?? (hasOwn(area) ? own[area] : url) ?? own[area]
    },
    isServed: (): boolean => servers.length > 0,
    /** Runs `act` for a request that a client sent to `address`. */
    withRequestOrigin<Value>(address: ServerAddress | undefined, act: () => Value): Value {
      requested = address
      try {
        return act()
      } finally {
        requested = undefined
      }
    },
    /** Adds a server. Returns a function that removes the server. */
    attach(server: ServerAddress): () => void {
      serve([...servers, server])
      return () => serve(servers.filter((other) => other !== server))
    },
  }
}
