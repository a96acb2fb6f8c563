import type { Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An answer of the server: `expires_in` and the like are given as they go over the wire. */
export interface Answer {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export type TokenRequest = Readonly<Record<string, string>>

/** A small API of area S over real sockets, whose every word the test decides. It counts what it is asked. */
export class TokenServer {
  readonly tokenRequests: TokenRequest[] = []
  /** The tokens of the calls, and their bodies. */
  readonly calls: string[] = []
  readonly bodies: unknown[] = []
  /** Answers a token request. The default issues `access-1`, `access-2`, … */
  onToken: (request: TokenRequest, index: number) => Answer | Promise<Answer> = (_request, index) => ({
    status: 200,
    body: this.tokenBody(index),
  })
  /** Whether a call with this token is let in. */
  accepts: (token: string) => boolean = () => true
  /** Runs before a call is answered; may hold it back. */
  beforeAnswer: (token: string, index: number) => Promise<void> | void = () => undefined
  readonly #server: Server

  private constructor() {
    this.#server = createServer((request, response) => {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', async () => {
        const answer = await this.#answer(
          request.url ?? '',
          request.headers.authorization ?? '',
          Buffer.concat(parts),
        )
        const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body ?? {})
        response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
        response.end(text)
      })
    })
  }

  static async start(): Promise<TokenServer> {
    const server = new TokenServer()
    // A busy machine may use a connection again at the moment at which the server would end it as idle.
    server.#server.keepAliveTimeout = 0
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve))
    return server
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  tokenBody(index: number, fields: object = {}): object {
    return {
      token_type: 'Bearer',
      expires_in: 3600,
      access_token: `access-${index}`,
      refresh_token: `refresh-${index}`,
      errorCode: '00',
      errorMessage: 'Successful',
      ...fields,
    }
  }

  /** How many token requests of a grant there were. */
  grants(grant: 'password' | 'refresh_token'): number {
    return this.tokenRequests.filter(({ grant_type }) => grant_type === grant).length
  }

  close(): Promise<void> {
    this.#server.closeAllConnections()
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }

  async #answer(url: string, authorization: string, body: Buffer): Promise<Answer> {
    if (url.endsWith('/oauth/token')) {
      const fields = JSON.parse(body.toString()) as TokenRequest
      this.tokenRequests.push(fields)
      return this.onToken(fields, this.tokenRequests.length)
    }
    const token = authorization.replace(/^Bearer /, '')
    this.calls.push(token)
    this.bodies.push(JSON.parse(body.toString()))
    const accepted = this.accepts(token)
    await this.beforeAnswer(token, this.calls.length)
    if (!accepted) return { status: 401, body: { errorCode: '401', errorMessage: 'Unauthorized' } }
    return {
      status: 200,
      body: {
        id: 'sub-1',
        amount: 25,
        cycle: 'DAILY',
        enabled: 1,
        createdDate: '2026-11-01T10:00:00.000000Z',
        startDate: '2026-11-01',
        endDate: '2027-11-01',
        nextPaymentDate: '2026-11-29 12:00:00',
        requestID: 'request-1',
        url: 'https://pay.example/1',
        invoiceID: 'invoice-1',
        errorCode: '00',
        errorMessage: 'Successful',
      },
    }
  }
}
