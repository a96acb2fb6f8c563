import type { Token } from '../contract/subscriptions.ts'
import type { Authorization, AuthorizationContext, TokenFields } from './authorizer.ts'
import type { Credentials } from './credentials.ts'
import { createCredentialsReader, failureOf, isHeaderSafe } from './credentials.ts'
import type { HeldToken } from './held-token.ts'
import { hold } from './held-token.ts'
import { LoginBreaker } from './login-breaker.ts'
import { checkPause, pauseIn, waitForPause } from './login-pause.ts'
import { RecordKeeper } from './record-keeper.ts'
import { isRefusal, wasAnswered } from './refused-login.ts'
import { isBearer, tokenOf } from './token-answer.ts'
import type { RenewalReason, TokenAuthorizerOptions, TokenRenewal } from './token-options.ts'
import type { TokenRecord } from './token-record.ts'
import { tokenKey } from './token-store.ts'
import { waitFor } from './waiting.ts'

/** Renewals that 401 answers may cause in any `WINDOW`. */
const UNAUTHORIZED_RENEWALS = 3
const WINDOW = 60_000
/** When a renewal ahead of time fails, the token that still lives is used this long before the next try. */
const POSTPONEMENT = 5_000
/** How long a record with a refresh token is kept, in milliseconds: the specification shows no lifetime for it. */
const REFRESH_TOKEN_LIFETIME = 2_592_000_000
const MARKS_KEPT = 32

/** One renewal under way. `answer` and `requested` tell what it did, once its promise has settled. */
interface Flight {
  readonly progress: { requested: boolean; answer: Token | undefined }
  readonly promise: Promise<HeldToken>
}

interface Renewal {
  readonly key: string
  readonly credentials: Credentials
  readonly reason: RenewalReason
  readonly progress: Flight['progress']
}

type Options = Required<{
  [Name in keyof TokenAuthorizerOptions]: Exclude<TokenAuthorizerOptions[Name], undefined>
}>

const remember = (marks: Set<string>, mark: string): void => {
  marks.add(mark)
  const [oldest] = marks
  if (marks.size > MARKS_KEPT && oldest !== undefined) marks.delete(oldest)
}

/** Gets, shares, renews and gives up tokens; the rules stand at `createTokenAuthorizer`. */
export class TokenLifecycle {
  readonly #options: Options
  readonly #credentials: () => Promise<Credentials>
  readonly #keeper: RecordKeeper
  readonly #breaker: LoginBreaker
  #held: HeldToken | undefined
  #flight: Flight | undefined
  #clientId: string | undefined
  #postponedUntil = 0
  /** Tokens that were answered 401. */
  readonly #spent = new Set<string>()
  /** Tokens whose refresh token was tried in vain. */
  readonly #barren = new Set<string>()
  #unauthorizedRenewals: readonly number[] = []

  constructor(options: Options) {
    this.#options = options
    this.#credentials = createCredentialsReader(options.credentials)
    this.#keeper = new RecordKeeper(options.tokenStore, options.clock, options.onUnexpected)
    this.#breaker = new LoginBreaker(options.loginCooldown)
  }

  current(): Authorization | undefined {
    const held = this.#held
    return held !== undefined && this.#isFresh(held) ? held.authorization : undefined
  }

  async authorize(context: AuthorizationContext): Promise<Authorization> {
    const fresh = this.current()
    if (fresh !== undefined) return fresh
    const current = this.#held
    const refused = current !== undefined && this.#spent.has(current.id)
    const flight = this.#flight ?? this.#start(refused ? 'unauthorized' : 'expiring')
    const { signal } = context
    try {
      const renewed = await waitFor(flight.promise, signal)
      return renewed.authorization
    } catch (error) {
      const living = this.#held
      if (signal?.aborted) throw error
      if (living === undefined || !this.#isAlive(living)) {
        const wait = this.#options.holdsBack ? waitForPause(error, context.remaining) : undefined
        if (wait === undefined) throw error
        await waitFor(this.#options.clock.sleep(wait, signal), signal)
        return this.authorize(context)
      }
      this.#postponedUntil = this.#options.clock.now() + POSTPONEMENT
      this.#options.onUnexpected(
        `The token could not be renewed ahead of its end: ${failureOf(error)}. It is used while it lives.`,
      )
      return living.authorization
    }
  }

  isCurrent({ credential }: Authorization): boolean {
    return this.current()?.credential === credential
  }

  async refused(authorization: Authorization, signal: AbortSignal | undefined): Promise<boolean> {
    const current = this.#held
    if (current === undefined) return false
    if (current.authorization.credential !== authorization.credential) return true
    remember(this.#spent, current.id)
    const flight = this.#flight ?? this.#start('unauthorized')
    const renewed = await waitFor(flight.promise, signal)
    return renewed.id !== current.id
  }

  async login(signal?: AbortSignal): Promise<Token> {
    for (;;) {
      const running = this.#flight
      const flight = running ?? this.#start('login-called')
      try {
        await waitFor(flight.promise, signal)
      } catch (error) {
        if (running === undefined || flight.progress.requested || signal?.aborted) throw error
      }
      // What was under way made no request: it took a token over from the store, or met an earlier refusal.
      if (flight.progress.answer !== undefined) return flight.progress.answer
    }
  }

  async clientId(): Promise<string> {
    this.#clientId ??= (await this.#credentials()).clientId
    return this.#clientId
  }

  #isFresh(held: HeldToken): boolean {
    if (!this.#isAlive(held)) return false
    const now = this.#options.clock.now()
    return now < held.renewAt || (now < this.#postponedUntil && this.#postponedUntil - now <= POSTPONEMENT)
  }

  #isAlive(held: HeldToken): boolean {
    return this.#options.clock.now() < held.expiresAt && !this.#spent.has(held.id)
  }

  #start(reason: RenewalReason): Flight {
    const progress: Flight['progress'] = { requested: false, answer: undefined }
    const promise = this.#renew(reason, progress).finally(() => {
      this.#flight = undefined
    })
    // Every caller may have gone by the time it fails.
    promise.catch(() => undefined)
    this.#flight = { progress, promise }
    return this.#flight
  }

  async #renew(reason: RenewalReason, progress: Flight['progress']): Promise<HeldToken> {
    const credentials = await this.#credentials()
    this.#clientId = credentials.clientId
    const key = tokenKey(this.#options.baseUrl, credentials.clientId, credentials.username)
    const renewal: Renewal = { key, credentials, reason, progress }
    const shared = await this.#shared(await this.#keeper.read(key), renewal)
    if (shared !== undefined) return shared
    return this.#keeper.locked(key, async () => {
      // Somebody else may have renewed, or have been refused, while this one waited for the lock.
      const record = await this.#keeper.read(key)
      return (await this.#shared(record, renewal)) ?? this.#request(record, renewal)
    })
  }

  /** What a record offers instead of a request: its token, or the refusal of an earlier login. */
  async #shared(record: TokenRecord, { credentials, reason }: Renewal): Promise<HeldToken | undefined> {
    if (reason === 'login-called') return undefined
    const taken = this.#take(record)
    if (taken !== undefined) return taken
    const now = this.#options.clock.now()
    await this.#breaker.check(record, credentials, now)
    checkPause(record, now, this.#options.loginCooldown)
    const current = this.#held
    return reason === 'unauthorized' && this.#isLimited(record) ? current : undefined
  }

  #take({ token }: TokenRecord): HeldToken | undefined {
    if (token === undefined || this.#spent.has(token.id) || !isHeaderSafe(token.accessToken)) return undefined
    const now = this.#options.clock.now()
    const held = this.#held?.id === token.id ? this.#held : hold(token, now)
    if (now >= held.renewAt) return undefined
    this.#held = held
    return held
  }

  async #request(record: TokenRecord, renewal: Renewal): Promise<HeldToken> {
    const { refresh } = this.#options
    const { key, reason } = renewal
    const { token } = record
    if (refresh === 'password' || reason === 'login-called' || token?.refreshToken === undefined) {
      return this.#passwordGrant(record, renewal)
    }
    if (this.#barren.has(token.id)) return this.#passwordGrant(record, renewal)
    try {
      return await this.#refreshGrant(record, renewal, token.refreshToken)
    } catch (error) {
      // Whatever became of it, it is not tried twice: the next request is a login.
      remember(this.#barren, token.id)
      if (!wasAnswered(error)) throw error
    }
    // The loser of a race finds the winner's token.
    const latest = await this.#keeper.read(key)
    return this.#take(latest) ?? this.#passwordGrant(latest, renewal)
  }

  async #refreshGrant(record: TokenRecord, renewal: Renewal, refreshToken: string): Promise<HeldToken> {
    const { clientId, clientSecret } = renewal.credentials
    const answer = await this.#ask(record, renewal, {
      grant_type: 'refresh_token',
      client_id: clientId,
      client_secret: clientSecret,
      refresh_token: refreshToken,
    })
    return this.#keep(answer, record, renewal, 'refresh_token')
  }

  async #passwordGrant(record: TokenRecord, renewal: Renewal): Promise<HeldToken> {
    const { key, credentials } = renewal
    const { clock, loginCooldown } = this.#options
    let answer: Token
    try {
      answer = await this.#ask(record, renewal, {
        grant_type: 'password',
        client_id: credentials.clientId,
        client_secret: credentials.clientSecret,
        username: credentials.username,
        password: credentials.password,
      })
    } catch (error) {
      if (isRefusal(error)) {
        const opened = await this.#breaker.opened(record, credentials, error, clock.now())
        await this.#keeper.write(key, opened, loginCooldown)
      }
      throw error
    }
    return this.#keep(answer, record, renewal, 'password')
  }

  async #ask(record: TokenRecord, { key, progress }: Renewal, fields: TokenFields): Promise<Token> {
    progress.requested = true
    const { clock, loginCooldown, requestToken } = this.#options
    try {
      return await requestToken(fields)
    } catch (error) {
      const pause = pauseIn(error, clock.now(), loginCooldown)
      if (pause !== undefined) await this.#keeper.write(key, { ...record, pause }, loginCooldown)
      throw error
    }
  }

  async #keep(
    answer: Token,
    record: TokenRecord,
    { key, credentials, reason, progress }: Renewal,
    grant: TokenRenewal['grant'],
  ): Promise<HeldToken> {
    const { clock, refresh, onTokenRenewed, onUnexpected, loginCooldown } = this.#options
    const now = clock.now()
    const old = grant === 'refresh_token' ? record.token?.refreshToken : undefined
    const token = tokenOf(answer, now, refresh === 'refresh_token', old)
    if (!isBearer(answer))
      onUnexpected('The login answered a token_type other than Bearer; it is used as a bearer token.')
    const first = reason === 'expiring' && this.#held === undefined && record.token === undefined
    const held = hold(token, now)
    this.#held = held
    this.#postponedUntil = 0
    progress.answer = answer
    const caused = reason === 'unauthorized' ? [now] : []
    this.#unauthorizedRenewals = [...this.#recent(this.#unauthorizedRenewals), ...caused]
    const refusals =
      grant === 'password' ? await this.#breaker.closed(record, credentials, now) : record.refusals
    await this.#keeper.write(
      key,
      {
        version: 1,
        token,
        ...(record.salt === undefined ? {} : { salt: record.salt }),
        refusals,
        unauthorizedRenewals: [...this.#recent(record.unauthorizedRenewals), ...caused],
      },
      Math.max(
        token.refreshToken === undefined ? token.lifetime : REFRESH_TOKEN_LIFETIME,
        refusals.length * loginCooldown,
        WINDOW,
      ),
    )
    onTokenRenewed({ reason: first ? 'first' : reason, grant })
    return held
  }

  #isLimited(record: TokenRecord): boolean {
    const own = this.#recent(this.#unauthorizedRenewals).length
    return Math.max(own, this.#recent(record.unauthorizedRenewals).length) >= UNAUTHORIZED_RENEWALS
  }

  /** The instants of the last minute. Those ahead of now are of a clock that was set back since. */
  #recent(instants: readonly number[]): readonly number[] {
    const now = this.#options.clock.now()
    return instants.filter((at) => at <= now && now - at < WINDOW)
  }
}
