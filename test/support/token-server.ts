import { DETAILS, SUBSCRIBED } from './bodies.ts'
import { deferred } from './deferred.ts'
import { type Received, type Script, startServer } from './scripted-server.ts'

export type TokenRequest = Readonly<Record<string, string>>

/** A small API of area S on a real socket that counts its requests. The test decides every response. */
export class TokenServer {
  readonly tokenRequests: TokenRequest[] = []
  /** The tokens of the calls, and their bodies. */
  readonly calls: string[] = []
  readonly bodies: unknown[] = []
  /** Responds to a token request. The default issues `access-1`, `access-2`, … */
  onToken: (request: TokenRequest, index: number) => Script | Promise<Script> = (_request, index) => ({
    status: 200,
    body: this.tokenBody(index),
  })
  /** Whether a call with this token is accepted. */
  accepts: (token: string) => boolean = () => true
  /** Runs before the response to a call; may delay it. */
  beforeAnswer: (token: string, index: number) => Promise<void> | void = () => undefined
  url = ''

  /** Starts a server; it ends with the test. */
  static async start(): Promise<TokenServer> {
    const server = new TokenServer()
    const { url } = await startServer(async (request) => {
      const { status = 200, body = {}, headers, fault } = await server.#answer(request)
      return {
        status,
        body,
        headers: { 'content-type': 'application/json', ...headers },
        ...(fault && { fault }),
      }
    })
    server.url = url
    return server
  }

  /** Grants the token requests from now on, with these fields in the response. */
  grant(fields: object = {}): void {
    this.onToken = (_request, index) => ({ status: 200, body: this.tokenBody(index, fields) })
  }

  /** Grants logins from now on, but not before the returned promise is resolved. */
  holdLogins() {
    const held = deferred()
    this.onToken = (_request, index) => held.promise.then(() => ({ body: this.tokenBody(index) }))
    return held
  }

  /** Answers every token request from now on with this response. */
  refuse(status: number, body: object = {}, headers: Readonly<Record<string, string>> = {}): void {
    this.onToken = () => ({ status, body, headers })
  }

  /** Revokes the tokens issued so far. */
  revoke(): void {
    const issued = this.tokenRequests.length
    this.accepts = (token) => Number(token.split('-')[1]) > issued
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

  /** The number of token requests of a grant. */
  grants(grant: 'password' | 'refresh_token'): number {
    return this.tokenRequests.filter(({ grant_type }) => grant_type === grant).length
  }

  async #answer({ url, headers, body }: Received): Promise<Script> {
    const fields: TokenRequest = JSON.parse(body)
    if (url.endsWith('/oauth/token')) {
      this.tokenRequests.push(fields)
      return this.onToken(fields, this.tokenRequests.length)
    }
    const token = (headers.authorization ?? '').replace(/^Bearer /, '')
    this.calls.push(token)
    this.bodies.push(fields)
    const isAccepted = this.accepts(token)
    await this.beforeAnswer(token, this.calls.length)
    if (!isAccepted) return { status: 401, body: { errorCode: '401', errorMessage: 'Unauthorized' } }
    return { status: 200, body: { ...DETAILS, ...SUBSCRIBED } }
  }
}
