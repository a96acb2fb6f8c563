/** What became of an action. */
export interface Told {
  readonly ok: boolean
  readonly message: string
}

/** Asks the panel at a server's URL for an action, as a program does. */
export const ask = async (
  url: string,
  action: string,
  fields: Record<string, string> = {},
): Promise<Told> => {
  const answer = await fetch(`${url}/_mock`, {
    method: 'POST',
    headers: { accept: 'application/json' },
    body: new URLSearchParams({ action, ...fields }),
  })
  return answer.json()
}

/** What the panel shows, as a program reads it. */
export const stateOf = async (url: string, query = '') => (await fetch(`${url}/_mock/state${query}`)).json()
