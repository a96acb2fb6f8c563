import { type Clock, startTimer, steadyClock, waitAtMost } from '../clock.ts'
import type { Token } from '../contract/subscriptions.ts'
import { isMandateKitError, RateLimitError } from '../errors.ts'
import { type Authorizer, describeError } from './authorizer.ts'
import { type CredentialsSource, readCredentials } from './credentials.ts'
import { blocksAfterLogin, createLoginGuard, isDecided, MAX_BLOCK_MS } from './login-guard.ts'
import { createResilientStore } from './resilient-token-store.ts'
import { type ActiveToken, activate, type TokenRecord, tokenFrom } from './token-record.ts'
import type { TokenStore } from './token-store.ts'

/** 401 responses cause at most this many token renewals within `WINDOW` milliseconds. */
const UNAUTHORIZED_RENEWALS = 3
const WINDOW = 60_000
/** After a failed early renewal, the client waits this many milliseconds before the next renewal. */
const POSTPONEMENT = 10_000
/** A call with a valid token waits at most this many ms for an early renewal. Then the call uses the valid token. */
const EARLY_WAIT = 1_000
/** If a login pause ends within this many milliseconds, a call waits. Otherwise, the call fails at once. */
const MAX_PAUSE_WAIT_MS = 60_000
/** If a token request takes longer than this many ms (real time), the store's lock may have expired meanwhile. */
const LONG_REQUEST = 5_000
/** Some of the provider's servers may not yet accept a token that is younger than this many milliseconds. */
const NEW_TOKEN = 5_000
/** After a 401 for a new token, the call waits this many milliseconds and sends the same token again. */
const NEW_TOKEN_WAIT = 1_000
/** While the store fails, each login waits for a random time of up to this many ms, so that not all start at once. */
const ALONE_DELAY = 10_000

type Reason = 'first' | 'expiring' | 'unauthorized' | 'login-called'
type Grant = 'password' | 'refresh_token'
type TokenFields = Readonly<Record<string, string>>

interface TokenLifecycleOptions<Response> {
  readonly baseUrl: string
  readonly credentials: CredentialsSource
  /** Sends one token request, which has its own timeout. Throws if the request fails. */
  readonly requestToken: (fields: TokenFields, signal: AbortSignal) => Promise<Response>
  readonly clock: Clock
  readonly tokenStore: TokenStore
  readonly refresh: Grant
  readonly loginCooldown: number
  readonly onTokenRenewed: (renewal: { readonly reason: Reason; readonly grant: Grant }) => void
  readonly onUnexpected: (message: string) => void
}

interface Renewed<Response> {
  readonly token: ActiveToken
  readonly response?: Response
}

/** The interval, in ms, at which a timer checks whether a call still waits for shared work. */
const BEAT = 1_000
/** If no call waits at this many checks in a row, the work is aborted. Most logins have ended by then. */
const IDLE_BEATS = 5

/** Starts work that several calls share, such as a login. The work continues while at least one call waits for it. */
const shareWork = <Result>(work: (signal: AbortSignal) => Promise<Result>) => {
  const controller = new AbortController()
  const result = work(controller.signal)
  let callers = 0
  let beats = 0
  let idleBeats = 0
  // In a worker, this timer stops together with the work, when the request that started both ends.
  const beat = () => {
    beats += 1
    idleBeats = callers > 0 ? 0 : idleBeats + 1
    if (idleBeats < IDLE_BEATS) stop = startTimer(BEAT, beat)
    else controller.abort()
  }
  let stop = startTimer(BEAT, beat)
  const ended = () => stop()
  result.then(ended, ended)

  return {
    /** Awaited by the call that started the work. Other calls use `joined`, which settles even if `result` does not. */
    result,
    isEnded: () => controller.signal.aborted,
    end: () => controller.abort(),
    /** Counts a call as waiting. If its signal is aborted, the call no longer counts. */
    join(signal: AbortSignal | undefined): void {
      callers += 1
      const leave = () => {
        callers -= 1
      }
      signal?.addEventListener('abort', leave, { once: true })
    },
    /**
     * Waits for the result in steps of `BEAT` ms. In a worker, the runtime may stop the work and the timer of `beat`.
     * If this timer does not fire for two steps, the promise rejects with a `TimeoutError`. One step would prove
     * nothing: after the process stalls, the step's timer may fire before the timer of `beat`.
     */
    joined(isSilent = false): Promise<Result> {
      const seen = beats
      return waitAtMost(result, BEAT).catch((error: unknown) => {
        if (isSilent && seen === beats) throw error
        return this.joined(seen === beats)
      })
    },
  }
}

/**
 * Gets, shares and renews the access token of a client's calls (Authentication, area S). A call that needs a token
 * joins the running renewal, or starts one. A renewal reads the record that all processes share. If the token in the
 * record is not usable, the renewal locks the record, reads it again, requests a token and saves the result.
 */
export const createTokenLifecycle = <Response extends { readonly data: Token }>(
  options: TokenLifecycleOptions<Response>,
) => {
  const { clock, loginCooldown, refresh, onUnexpected } = options
  const store = createResilientStore(options.tokenStore, clock, onUnexpected)
  const guard = createLoginGuard(loginCooldown, clock)
  let active: ActiveToken | undefined
  let inFlight: ReturnType<typeof shareWork<Renewed<Response>>> | undefined
  let knownClientId: string | undefined
  /** Failed refresh tokens, and the ids of access tokens that got a 401. The client does not use these tokens again. */
  const rejected = new Set<string>()

  /** Returns the token in use, or undefined if the token has expired or was rejected with 401. */
  const valid = (): ActiveToken | undefined =>
    active && !rejected.has(active.id) && clock.now() < active.expiresAt ? active : undefined

  const current = (): ActiveToken | undefined => {
    const token = valid()
    return token && clock.now() < token.renewAt ? token : undefined
  }

  /** Starts to use the record's token, and returns it. Returns undefined if the record has no usable token. */
  const take = ({ token }: TokenRecord): Renewed<Response> | undefined => {
    if (token === undefined || rejected.has(token.id)) return undefined
    const now = clock.now()
    const taken = active?.id === token.id ? active : activate(token, now, false)
    if (now >= taken.renewAt) return undefined
    active = taken
    return { token: taken }
  }

  /** Returns the times of the last minute's renewals after a 401. Omits future times, which a wrong clock recorded. */
  const recentRenewals = ({ unauthorizedRenewals }: TokenRecord): readonly number[] => {
    const now = clock.now()
    return unauthorizedRenewals.filter((at) => at <= now && now - at < WINDOW)
  }

  const startRenewal = async (reason: Reason, signal: AbortSignal): Promise<Renewed<Response>> => {
    const credentials = await readCredentials(options.credentials)
    const { clientId, clientSecret, username, password } = credentials
    knownClientId = clientId
    const key = ['token', options.baseUrl, clientId, username].map(encodeURIComponent).join(':')

    /** Returns the token to use, or undefined if the client must request a token. Throws if logins are blocked. */
    const fromRecord = async (record: TokenRecord): Promise<Renewed<Response> | undefined> => {
      if (reason === 'login-called') return undefined
      const taken = take(record)
      if (taken !== undefined) return taken
      await guard.check(record, credentials)
      const isLimited = reason === 'unauthorized' && recentRenewals(record).length >= UNAUTHORIZED_RENEWALS
      return isLimited && active ? { token: active } : undefined
    }

    const request = async (grant: Grant, fields: TokenFields, record: TokenRecord) => {
      const isLogin = grant === 'password'
      // A failure after a pause doubles the pause, so the store must keep the record for longer than the pause.
      const timeToLive = Math.max(loginCooldown, MAX_BLOCK_MS) + MAX_BLOCK_MS
      const send = async () => {
        const client = { client_id: clientId, client_secret: clientSecret }
        const response = await options.requestToken({ grant_type: grant, ...client, ...fields }, signal)
        return { response, token: tokenFrom(response.data, clock.now(), fields.refresh_token) }
      }
      // Without a lock, or after the lock has expired, another process may have saved a token or a rejection.
      const latest = async () => {
        const found = await store.read(key)
        return found.token || found.blocks.length > 0 ? found : record
      }
      const sentAt = steadyClock.now()
      const { response, token } = await send().catch(async (error: unknown) => {
        const failed = await guard.failed(await latest(), credentials, error, isLogin)
        if (failed !== undefined) store.write(key, failed, timeToLive)
        throw error
      })
      const { token_type: type = 'bearer' }: { readonly token_type?: unknown } = response.data
      if (String(type).toLowerCase() !== 'bearer')
        onUnexpected('The login returned a token_type other than Bearer.')
      const isFirst = reason === 'expiring' && active === undefined && record.token === undefined
      const now = clock.now()
      const renewed = activate(token, now, true)
      active = renewed
      const current = steadyClock.now() - sentAt > LONG_REQUEST ? await latest() : record
      const recent = recentRenewals(current)
      const refreshToken = refresh === 'refresh_token' ? token.refreshToken : undefined
      const result = {
        ...current,
        token: { ...token, refreshToken },
        blocks: isLogin ? await blocksAfterLogin(current, credentials) : current.blocks,
        unauthorizedRenewals: reason === 'unauthorized' ? [...recent, now] : recent,
      }
      store.write(key, result, refreshToken === undefined ? Math.max(token.lifetime, timeToLive) : Infinity)
      options.onTokenRenewed({ reason: isFirst ? 'first' : reason, grant })
      return { token: renewed, response }
    }

    const logIn = (record: TokenRecord) => request('password', { username, password }, record)

    const refreshOrLogIn = async (record: TokenRecord): Promise<Renewed<Response>> => {
      const refreshToken = reason === 'login-called' ? undefined : record.token?.refreshToken
      if (refresh === 'password' || !refreshToken || rejected.has(refreshToken)) return logIn(record)
      try {
        return await request('refresh_token', { refresh_token: refreshToken }, record)
      } catch (error) {
        // The client sends a refresh token only once, even if the response is lost. The next token request is a login.
        rejected.add(refreshToken)
        if (!isDecided(error)) throw error
      }
      // Another process may have renewed the token first.
      const latest = await store.read(key)
      const taken = take(latest)
      // Another process may also have saved a rejected login.
      if (taken === undefined) await guard.check(latest, credentials)
      return taken ?? logIn(latest)
    }

    const renewLocked = async (isAlone: boolean): Promise<Renewed<Response>> => {
      // While this process waited, another process may have saved a token or a rejection.
      const record = await store.read(key)
      const found = await fromRecord(record)
      if (found !== undefined || !isAlone) return found ?? refreshOrLogIn(record)
      await clock.sleep(Math.random() * ALONE_DELAY, signal)
      return renewLocked(false)
    }

    return (await fromRecord(await store.read(key))) ?? store.locked(key, renewLocked, signal)
  }

  /** Waits for the running token renewal, or starts one. If this call is aborted, other calls still get the token. */
  const renew = async (reason: Reason, caller?: AbortSignal): Promise<Renewed<Response>> => {
    for (;;) {
      caller?.throwIfAborted()
      const joined = inFlight
      const renewal = joined ?? shareWork((signal) => startRenewal(reason, signal))
      inFlight = renewal
      renewal.join(caller)
      try {
        return await (joined ? renewal.joined() : renewal.result)
      } catch (error) {
        // In a worker, the runtime may stop the renewal when the request that started it ends. The renewal's promise
        // then rejects with the runtime's error, or never settles. In both cases, start a new renewal.
        if (!renewal.isEnded() && (joined === undefined || isMandateKitError(error))) throw error
        renewal.end()
      } finally {
        if (inFlight === renewal) inFlight = undefined
      }
    }
  }

  /** Renews a token early. The call that starts the renewal waits up to 1 s for it. Other calls use the old token. */
  const renewEarly = async (token: ActiveToken): Promise<void> => {
    const renewal = renew('expiring').catch((error: unknown) => {
      token.renewAt = Math.min(clock.now() + POSTPONEMENT, token.expiresAt)
      onUnexpected(`The token could not be renewed early: ${describeError(error)}.`)
    })
    await waitAtMost(renewal, EARLY_WAIT).catch(() => undefined)
  }

  /** Returns a token for an attempt. If `waits` is true and enough time remains, waits until a login pause ends. */
  const obtain = async (signal: AbortSignal, waits: boolean, remaining: number): Promise<ActiveToken> => {
    const token = valid()
    if (token !== undefined) {
      if (current() === undefined && inFlight === undefined) await renewEarly(token)
      return valid() ?? token
    }
    try {
      const reason = active && rejected.has(active.id) ? 'unauthorized' : 'expiring'
      return (await renew(reason, signal)).token
    } catch (error) {
      const isPause = error instanceof RateLimitError && error.phase === 'login' && error.status === undefined
      const wait = waits && isPause ? error.retryAfterMs : undefined
      if (!wait || wait > MAX_PAUSE_WAIT_MS || wait >= remaining || signal.aborted) throw error
      await clock.sleep(wait, signal)
      // A custom `sleep` may resolve although the signal is aborted. An aborted call must not log in.
      signal.throwIfAborted()
      return obtain(signal, waits, remaining - wait)
    }
  }

  const authorize: Authorizer = (_, waits, remaining) => {
    let used: ActiveToken | undefined
    let sentAgain: ActiveToken | undefined
    let isRenewed = false
    /** Returns whether some servers may not yet accept the token. If so, the call sends the token again after a 401. */
    const isNew = (token: ActiveToken): boolean =>
      token === valid() && token !== sentAgain && clock.now() - token.obtainedAt < NEW_TOKEN
    return {
      current() {
        used = current()
        return used?.header
      },
      async obtain(signal) {
        used = await obtain(signal, waits, remaining())
        return used.header
      },
      async retry(signal) {
        if (used === undefined) return undefined
        if (isNew(used) && remaining() > NEW_TOKEN_WAIT) {
          sentAgain = used
          return NEW_TOKEN_WAIT
        }
        if (isRenewed) return undefined
        // If `active` is not the token of this call, another call has already replaced this token.
        if (active === used) {
          rejected.add(used.id)
          const { token } = await renew('unauthorized', signal)
          if (token === used) return undefined
        }
        isRenewed = active?.isRequested === true
        return 0
      },
    }
  }

  return {
    authorize,
    /** Returns the response of the running token request. If none is running, first logs in with the password. */
    async login(signal: AbortSignal): Promise<Response> {
      for (;;) {
        const isShared = inFlight !== undefined
        try {
          const { response } = await renew('login-called', signal)
          if (response !== undefined) return response
        } catch (error) {
          // Another call started this renewal, which failed before it sent a request. The loop starts a new renewal.
          if (!isShared || !isMandateKitError(error) || error.attempts > 0) throw error
        }
      }
    },
    /** Returns the client id of the credentials, which `subscribe` sends by default (S1). */
    async clientId(): Promise<string> {
      knownClientId ??= (await readCredentials(options.credentials)).clientId
      return knownClientId
    },
  }
}
