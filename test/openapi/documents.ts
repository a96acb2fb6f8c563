import { readFile } from 'node:fs/promises'
import { joinDocuments } from '../../mocks/server/openapi-document.ts'
import type { Json } from '../../scripts/openapi/schemas.ts'
import { GATEWAY_API_PREFIX } from '../../src/contract/gateway.ts'
import { SUBSCRIPTIONS_API_PREFIX } from '../../src/contract/subscriptions.ts'

const read = async (area: string): Promise<Json> =>
  JSON.parse(await readFile(new URL(`../../openapi/${area}.json`, import.meta.url), 'utf8'))

/** The packed documents. */
export const documents = {
  subscriptions: await read('subscriptions'),
  gateway: await read('gateway'),
}

/** The document of both areas, as a server at `url` serves it. */
export const joined = (url: string): Json =>
  joinDocuments(
    [
      {
        document: documents.subscriptions,
        standardPrefix: SUBSCRIPTIONS_API_PREFIX,
        prefix: SUBSCRIPTIONS_API_PREFIX,
      },
      { document: documents.gateway, standardPrefix: GATEWAY_API_PREFIX, prefix: GATEWAY_API_PREFIX },
    ],
    url,
  )
