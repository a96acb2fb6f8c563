import type { RequestOptions } from 'node:https'
import { request as httpsRequest } from 'node:https'
import type { FetchFunction } from '../../src/index.ts'

/** A `fetch` made of node:https, which knows nothing of undici. */
export const viaHttps =
  (options: RequestOptions): FetchFunction =>
  (url, { method, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const sent = httpsRequest(url, { agent: false, ...options, method, headers, signal }, (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('error', reject)
        answer.on('end', () =>
          resolve(new Response(Buffer.concat(chunks), { status: answer.statusCode ?? 500 })),
        )
      })
      sent.on('error', reject)
      sent.end(body)
    })
