/** Runs an action of the panel at a server's URL, as a program does. */
export const ask = async (
  url: string,
  action: string,
  fields: Record<string, string> = {},
): Promise<{ readonly ok: boolean; readonly message: string }> => {
  const response = await fetch(`${url}/_mock`, {
    method: 'POST',
    headers: { accept: 'application/json' },
    body: new URLSearchParams({ action, ...fields }),
  })
  return response.json()
}

/** Reads the panel's state, as a program does. */
export const stateOf = async (url: string, query = '') => (await fetch(`${url}/_mock/state${query}`)).json()
