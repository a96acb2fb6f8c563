import { Pool } from 'undici'

/** How many requests are under way at once. */
const CONNECTIONS = 16

const BODY = JSON.stringify({
  msisdn: '+99900000001',
  amount: 2500,
  currency: 'BDT',
  redirect_uri: 'https://shop.example/paid',
})

/** Loads one server with charges, each under a key of its own. */
export interface Load {
  /** Sends charges over all connections while `goesOn` says so; the number of those that were answered. */
  run(goesOn: () => boolean): Promise<number>
  close(): Promise<void>
}

/** The load on the server at a base URL. A charge that is not answered with a 2xx status ends it. */
export const createLoad = (baseUrl: string): Load => {
  const pool = new Pool(baseUrl, { connections: CONNECTIONS })
  let key = 0
  const charge = async (): Promise<void> => {
    key += 1
    const { statusCode, body } = await pool.request({
      path: '/api/v1/mfs/charges',
      method: 'POST',
      headers: {
        authorization: 'Bearer mock-api-key',
        'content-type': 'application/json',
        'idempotency-key': `key-${key}`,
      },
      body: BODY,
    })
    await body.text()
    if (statusCode < 200 || statusCode > 299) throw new Error(`${baseUrl} answered ${statusCode}`)
  }
  return {
    run: async (goesOn) => {
      let answered = 0
      const worker = async (): Promise<void> => {
        while (goesOn()) {
          await charge()
          answered += 1
        }
      }
      await Promise.all(Array.from({ length: CONNECTIONS }, worker))
      return answered
    },
    close: () => pool.destroy(),
  }
}
