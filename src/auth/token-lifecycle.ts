import { type Clock, waitAtMost } from '../clock.ts'
import type { Token } from '../contract/subscriptions.ts'
import { isMandateKitError, RateLimitError } from '../errors.ts'
import type { Authorization, AuthorizationContext, Authorizer } from './authorizer.ts'
import { type Credentials, type CredentialsSource, failureOf, readCredentials } from './credentials.ts'
import { LoginBreaker, secretOf } from './login-breaker.ts'
import { isDecided, LONGEST_BLOCK } from './login-failure.ts'
import { RecordKeeper } from './record-keeper.ts'
import { SharedWork } from './shared-work.ts'
import { type HeldToken, hold, type StoredToken, type TokenRecord, tokenFrom } from './token-record.ts'
import type { TokenStore } from './token-store.ts'

/** Maximum number of renewals after a 401 within `WINDOW` milliseconds. */
const UNAUTHORIZED_RENEWALS = 3
const WINDOW = 60_000
/** After a failed early renewal, the client waits this many milliseconds before the next renewal. */
const POSTPONEMENT = 10_000
/** How long a call with a valid token waits for an early renewal, in milliseconds of real time. */
const EARLY_WAIT = 1_000
/** A call waits for the end of a login pause only if at most this many milliseconds remain. */
const LONGEST_WAIT = 60_000
/** A part of the API may not know a token that is younger than this many milliseconds. */
const NEW_TOKEN = 5_000
/** Longest random delay of a login while the store fails and cannot prevent that all processes log in together. */
const ALONE_DELAY = 10_000
/** Maximum number of ids in each of the sets `#rejected` and `#exhausted`. */
const IDS_KEPT = 32

type RenewalReason = 'first' | 'expiring' | 'unauthorized' | 'login-called'
type Grant = 'password' | 'refresh_token'
type TokenFields = Readonly<Record<string, string>>

/** A response that contains a token. */
interface TokenResponse {
  readonly data: Token
}

/** The options and functions that a token lifecycle uses. */
export interface TokenLifecycleOptions<Response extends TokenResponse> {
  readonly baseUrl: string
  readonly credentials: CredentialsSource
  /** Sends one token request, which has its own timeout. Throws the login's error. */
  readonly requestToken: (fields: TokenFields, signal: AbortSignal) => Promise<Response>
  /** How long calls wait for a token renewal that another call started, in milliseconds. */
  readonly renewalLimit: number
  readonly clock: Clock
  readonly tokenStore: TokenStore
  readonly refresh: Grant
  readonly loginCooldown: number
  readonly onTokenRenewed: (renewal: { readonly reason: RenewalReason; readonly grant: Grant }) => void
  readonly onUnexpected: (message: string) => void
}

/** The reason for a token renewal, and the credentials to use. */
interface Renewal {
  readonly key: string
  readonly credentials: Credentials
  readonly secret: string
  readonly reason: RenewalReason
  readonly signal: AbortSignal
}

/** Result of a renewal. `response` is absent if the client sent no token request. */
interface Renewed<Response> extends HeldToken {
  readonly response?: Response
}

const remember = (ids: Set<string>, id: string): void => {
  ids.add(id)
  const [oldest = id] = ids
  if (ids.size > IDS_KEPT) ids.delete(oldest)
}

/** Authorizes API calls with an access token. Gets, shares and renews the token. (Authentication, area S) */
export class TokenLifecycle<Response extends TokenResponse> implements Authorizer {
  readonly #options: TokenLifecycleOptions<Response>
  readonly #keeper: RecordKeeper
  readonly #breaker: LoginBreaker
  #held: HeldToken | undefined
  /** Whether a token request of this client returned the token in use. If not, the token comes from the store. */
  #isRequested = false
  /** The token renewal in progress, which all calls share. */
  #renewal: SharedWork<Renewed<Response>> | undefined
  #clientId: string | undefined
  /** Ids of tokens that were rejected with 401. */
  readonly #rejected = new Set<string>()
  /** Ids of tokens that the client failed to refresh. It does not send their refresh tokens again. */
  readonly #exhausted = new Set<string>()
  #unauthorizedRenewals: readonly number[] = []

  constructor(options: TokenLifecycleOptions<Response>) {
    this.#options = options
    this.#keeper = new RecordKeeper(options.tokenStore, options.clock, options.onUnexpected)
    this.#breaker = new LoginBreaker(options.loginCooldown, options.clock)
  }

  current(): Authorization | undefined {
    const held = this.#valid()
    return held && this.#options.clock.now() < held.renewAt ? held.authorization : undefined
  }

  async authorize(context: AuthorizationContext): Promise<Authorization> {
    const valid = this.#valid()
    if (valid !== undefined) {
      if (this.current() === undefined && this.#renewal === undefined) await this.#renewEarly()
      return (this.#valid() ?? valid).authorization
    }
    const { signal, remaining, waits } = context
    try {
      const isRejected = this.#held !== undefined && this.#rejected.has(this.#held.id)
      const { authorization } = await this.#renew(isRejected ? 'unauthorized' : 'expiring', signal)
      return authorization
    } catch (error) {
      const isPause = error instanceof RateLimitError && error.phase === 'login' && error.status === undefined
      const wait = waits && isPause ? error.retryAfterMs : undefined
      if (!wait || wait > LONGEST_WAIT || wait >= remaining || signal.aborted) throw error
      await this.#options.clock.sleep(wait, signal)
      // A custom `sleep` may resolve although the signal is aborted. An aborted call must not log in.
      signal.throwIfAborted()
      return this.authorize({ ...context, remaining: remaining - wait })
    }
  }

  isNew(authorization: Authorization): boolean {
    const held = this.#valid()
    return held?.authorization === authorization && this.#options.clock.now() - held.obtainedAt < NEW_TOKEN
  }

  async refused(authorization: Authorization, signal: AbortSignal) {
    const rejected = this.#held
    // If the two differ, another call has already replaced the token.
    if (rejected?.authorization === authorization) {
      remember(this.#rejected, rejected.id)
      const { id } = await this.#renew('unauthorized', signal)
      if (id === rejected.id) return 'rejected'
    }
    return this.#isRequested ? 'renewed' : 'replaced'
  }

  /** Logs in with the password now, or waits for the token request in flight. Returns the server's response. */
  async login(signal: AbortSignal): Promise<Response> {
    for (;;) {
      const isShared = this.#renewal !== undefined
      try {
        const { response } = await this.#renew('login-called', signal)
        if (response !== undefined) return response
      } catch (error) {
        // Another call started this renewal, which failed before it sent a request. The loop starts a new renewal.
        if (!isShared || !isMandateKitError(error) || error.attempts > 0) throw error
      }
    }
  }

  /** Returns the client id in the credentials. `subscribe` sends the client id by default. (S1) */
  async clientId(): Promise<string> {
    this.#clientId ??= (await readCredentials(this.#options.credentials)).clientId
    return this.#clientId
  }

  /** Returns the token in use, or undefined if the token has expired or was rejected with 401. */
  #valid(): HeldToken | undefined {
    const held = this.#held
    if (held === undefined || this.#rejected.has(held.id)) return undefined
    return this.#options.clock.now() < held.expiresAt ? held : undefined
  }

  /** Renews a valid token. The call that starts the renewal waits for it up to 1 s. Other calls use the old token. */
  async #renewEarly(): Promise<void> {
    const { clock, onUnexpected } = this.#options
    const renewal = this.#renew('expiring').catch((error: unknown) => {
      if (this.#held)
        this.#held = { ...this.#held, renewAt: Math.min(clock.now() + POSTPONEMENT, this.#held.expiresAt) }
      onUnexpected(`The token could not be renewed early: ${failureOf(error)}.`)
    })
    await waitAtMost(renewal, EARLY_WAIT).catch(() => undefined)
  }

  /** Waits for the token renewal in flight, or starts one. The renewal continues when a waiting call is aborted. */
  async #renew(reason: RenewalReason, caller?: AbortSignal): Promise<Renewed<Response>> {
    for (;;) {
      caller?.throwIfAborted()
      const joined = this.#renewal
      const renewal =
        joined ?? new SharedWork((signal) => this.#start(reason, signal), this.#options.renewalLimit)
      this.#renewal = renewal
      renewal.join(caller)
      try {
        return await (joined ? renewal.joined() : renewal.work)
      } catch (error) {
        // In a worker, the runtime may stop the renewal when the request that started it ends. The renewal's promise
        // then rejects with the runtime's error, or never settles. In both cases, start a new renewal.
        if (!renewal.isEnded && (joined === undefined || isMandateKitError(error))) throw error
        renewal.end()
      } finally {
        if (this.#renewal === renewal) this.#renewal = undefined
      }
    }
  }

  async #start(reason: RenewalReason, signal: AbortSignal): Promise<Renewed<Response>> {
    const credentials = await readCredentials(this.#options.credentials)
    const { clientId, username } = credentials
    this.#clientId = clientId
    const key = ['token', this.#options.baseUrl, clientId, username].map(encodeURIComponent).join(':')
    const renewal: Renewal = { key, credentials, secret: secretOf(credentials), reason, signal }
    const shared = await this.#fromRecord(await this.#keeper.read(key), renewal)
    if (shared !== undefined) return shared
    const work = async (isAlone: boolean): Promise<Renewed<Response>> => {
      // While this process waited, another process may have saved a token or a rejection.
      const record = await this.#keeper.read(key)
      const found = await this.#fromRecord(record, renewal)
      if (found !== undefined || !isAlone) return found ?? this.#request(record, renewal)
      await this.#options.clock.sleep(Math.random() * ALONE_DELAY, signal)
      return work(false)
    }
    return this.#keeper.locked(key, work, signal)
  }

  /** Returns a token, or undefined if a token request is needed. Throws if logins are blocked. */
  async #fromRecord(record: TokenRecord, { secret, reason }: Renewal): Promise<HeldToken | undefined> {
    if (reason === 'login-called') return undefined
    const taken = this.#take(record)
    if (taken !== undefined) return taken
    await this.#breaker.check(record, secret)
    const isLimited = this.#recentRenewals(record).length >= UNAUTHORIZED_RENEWALS
    return reason === 'unauthorized' && isLimited ? this.#held : undefined
  }

  /** Uses the record's token from now on, unless the token was rejected or must be renewed. */
  #take({ token }: TokenRecord): HeldToken | undefined {
    if (token === undefined || this.#rejected.has(token.id)) return undefined
    const now = this.#options.clock.now()
    if (this.#held?.id === token.id) return now < this.#held.renewAt ? this.#held : undefined
    const held = hold(token, now)
    if (now >= held.renewAt) return undefined
    this.#isRequested = false
    this.#held = held
    return held
  }

  async #request(record: TokenRecord, renewal: Renewal): Promise<Renewed<Response>> {
    const { token } = record
    const mayRefresh = this.#options.refresh === 'refresh_token' && renewal.reason !== 'login-called'
    let latest = record
    if (mayRefresh && token?.refreshToken !== undefined && !this.#exhausted.has(token.id)) {
      try {
        return await this.#ask('refresh_token', { refresh_token: token.refreshToken }, record, renewal)
      } catch (error) {
        // The client sends a refresh token only once, even if the response is lost. The next token request is a login.
        remember(this.#exhausted, token.id)
        if (!isDecided(error)) throw error
      }
      // Another process may have renewed the token first.
      latest = await this.#keeper.read(renewal.key)
      const taken = this.#take(latest)
      if (taken !== undefined) return taken
    }
    const { username, password } = renewal.credentials
    return this.#ask('password', { username, password }, latest, renewal)
  }

  /** Sends a token request and saves its result for all processes: a token, a rejection or a pause. */
  async #ask(
    grant: Grant,
    fields: TokenFields,
    record: TokenRecord,
    renewal: Renewal,
  ): Promise<Renewed<Response>> {
    const { key, secret, reason, signal } = renewal
    const { clock, loginCooldown, refresh, requestToken, onTokenRenewed, onUnexpected } = this.#options
    const { clientId, clientSecret } = renewal.credentials
    const isLogin = grant === 'password'
    let response: Response
    let received: StoredToken
    try {
      const client = { client_id: clientId, client_secret: clientSecret }
      response = await requestToken({ grant_type: grant, ...client, ...fields }, signal)
      received = tokenFrom(response.data, clock.now(), fields.refresh_token)
    } catch (error) {
      const failed = await this.#breaker.failed(record, secret, error, isLogin)
      if (failed === undefined) throw error
      // The next failure doubles a pause, so the record must remain after the pause.
      this.#keeper.write(key, failed.record, Math.max(loginCooldown, LONGEST_BLOCK) + LONGEST_BLOCK)
      throw Object.assign(error as Error, failed.advice)
    }
    const now = clock.now()
    const token = refresh === 'refresh_token' ? received : { ...received, refreshToken: undefined }
    const { token_type: type = 'bearer' }: { readonly token_type?: unknown } = response.data
    if (String(type).toLowerCase() !== 'bearer')
      onUnexpected('The login returned a token_type other than Bearer.')
    const isFirst = reason === 'expiring' && this.#held === undefined && record.token === undefined
    const held = hold(token, now)
    this.#held = held
    this.#isRequested = true
    const recent = this.#recentRenewals(record)
    const unauthorizedRenewals = reason === 'unauthorized' ? [...recent, now] : recent
    this.#unauthorizedRenewals = unauthorizedRenewals
    const blocks = isLogin ? await this.#breaker.succeeded(record, secret) : record.blocks
    const renewed = { ...record, token, blocks, unauthorizedRenewals }
    const lifetime = token.refreshToken === undefined ? token.lifetime : Number.POSITIVE_INFINITY
    this.#keeper.write(key, renewed, Math.max(lifetime, loginCooldown, WINDOW))
    onTokenRenewed({ reason: isFirst ? 'first' : reason, grant })
    return { ...held, response }
  }

  /** Returns when tokens were recently renewed after a 401: the client's list or the record's, the longer of the two. */
  #recentRenewals(record: TokenRecord): readonly number[] {
    const now = this.#options.clock.now()
    // Ignore times in the future, because they come from a wrong clock.
    const recent = (times: readonly number[]) => times.filter((at) => at <= now && now - at < WINDOW)
    const own = recent(this.#unauthorizedRenewals)
    const shared = recent(record.unauthorizedRenewals)
    return own.length > shared.length ? own : shared
  }
}
