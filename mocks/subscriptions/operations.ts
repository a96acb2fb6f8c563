import { check } from '../base/fields.ts'
import { type Fields, ok, type Result, refused } from '../base/result.ts'
import { type AreaContext, createBilling, createSchedule } from './billing.ts'
import { type PaymentScript, type Seeds, type SubscriptionsOptions, seedsSchema } from './options.ts'
import { createRequestReader, readSeeds } from './requests.ts'
import {
  allows,
  findCancellation,
  findPayment,
  type Merchant,
  requestKey,
  type Subscription,
  type SubscriptionsState,
  standingAt,
} from './state.ts'
import { createTokens } from './tokens.ts'
import {
  type AuthorizationView,
  authorizationPath,
  createViews,
  type PaymentBody,
  type SubscriptionState,
} from './views.ts'

const ID_LENGTH = 12

const notFound = (what: string, explanation: string): Result<never> =>
  refused('not_found', `${what} not found.`, { explanation })

/** The identifier that each operation takes, and where a merchant finds it. */
const NEEDED = {
  'Subscription request': 'the invoiceID, which subscribe returns',
  Subscription: 'the subscriptionId, which the status of the request contains',
  Cancellation: 'the subscriptionId, which the status of the request contains',
  Payment: 'a paymentId, which the list of payments contains',
}
type Kind = keyof typeof NEEDED

const notAllowed = (message: string, explanation: string): Result<never> =>
  refused('state', message, { explanation })

/** Returns a page of a list (Limits, Pagination; row 41). Ignores invalid query parameters. */
const pageOf = <Item>(
  items: readonly Item[],
  query: URLSearchParams,
  { defaultSize, maxSize, ignore }: SubscriptionsOptions['paging'],
): readonly Item[] => {
  const read = (name: 'page' | 'per_page'): number | undefined => {
    const text = query.get(name) ?? ''
    return !ignore.includes(name) && /^\d+$/.test(text) && Number(text) >= 1 ? Number(text) : undefined
  }
  const size = Math.min(read('per_page') ?? defaultSize, maxSize)
  const from = ((read('page') ?? 1) - 1) * size
  return items.slice(from, from + size)
}

/** The subscriptions API (area S) of a mock. */
export type Subscriptions = ReturnType<typeof createSubscriptions>

/** Creates the subscriptions API (area S) of a mock. Each operation first runs what is due: payments, cancellations. */
export const createSubscriptions = (
  outer: Omit<AreaContext, 'schedule'> & {
    /** Returns the base URL of the payer's pages: the start of the `url` that `subscribe` returns (S-b). */
    readonly baseUrl: (area: 'subscriptions') => string
  },
) => {
  const { state, agenda, ids, options, baseUrl } = outer
  const { now } = agenda
  const context: AreaContext = { ...outer, schedule: createSchedule(options) }
  const billing = createBilling(context)
  const views = createViews(context)
  const tokens = createTokens(context)
  const readRequest = createRequestReader(context)
  const standing = (one: Subscription) => standingAt(one, now())

  /** Returns the state after all payments and cancellations that are due. */
  const present = (): SubscriptionsState => {
    agenda.runDue()
    return state.subscriptions
  }

  /** Refuses an identifier that is unknown, or that identifies something else. */
  const unknownId = (kind: Kind, id: string): Result<never> => {
    const { byInvoice, bySubscription } = state.subscriptions
    const given = byInvoice.has(id) ? 'an invoiceID' : 'a subscriptionId'
    return byInvoice.has(id) || bySubscription.has(id)
      ? notFound(kind, `This is ${given}. Pass ${NEEDED[kind]}.`)
      : notFound(kind, 'The mock has not issued this identifier.')
  }

  /** Runs `act` on a merchant's subscription. Refuses one that does not exist or belongs to another merchant. */
  const own = <Value>(
    { clientId }: Merchant,
    kind: Kind,
    id: string,
    act: (one: Subscription) => Result<Value>,
  ): Result<Value> => {
    const { byInvoice, bySubscription } = present()
    const one = (kind === 'Subscription request' ? byInvoice : bySubscription).get(id)
    if (one === undefined) return unknownId(kind, id)
    return one.owner === clientId ? act(one) : notFound(kind, 'The identifier belongs to another merchant.')
  }

  /** Runs `act` on the subscription with an invoiceID or subscriptionId. */
  const either = <Value>(id: string, act: (one: Subscription) => Result<Value>): Result<Value> => {
    const { byInvoice, bySubscription } = present()
    const one = byInvoice.get(id) ?? bySubscription.get(id)
    return one === undefined ? unknownId('Subscription', id) : act(one)
  }

  /** Runs `act` on a request as the payer, and returns the data of the payer's page. */
  const asPayer = (
    invoiceId: string,
    act: (one: Subscription) => Result<never> | undefined,
  ): Result<AuthorizationView> => {
    const one = present().byInvoice.get(invoiceId)
    if (one === undefined) return unknownId('Subscription request', invoiceId)
    return act(one) ?? ok(views.authorization(one))
  }

  /** Runs `act` as the payer's decision, which the payer can make only while the request is open. */
  const decide = (invoiceId: string, event: 'authorize' | 'decline', act: (one: Subscription) => void) =>
    asPayer(invoiceId, (one) => {
      if (!allows(one, event, now())) {
        return notAllowed(
          'The subscription request is no longer open.',
          `The request is ${standing(one).requestStatus}; a payer can ${event} it only while it is INITIALIZED (option subscriptions.requestTtl sets how long).`,
        )
      }
      act(one)
      agenda.runDue()
      return undefined
    })

  const add = (given: Seeds): readonly SubscriptionState[] => {
    const seeds = readSeeds(given, options, state.subscriptions, now())
    const added = seeds.subscriptions.map(({ request, authorizedAt, payments, ...seed }) => {
      const { start, end, cycle, amount } = request
      const requestID = request.requestID ?? ids.text('seed-request', ID_LENGTH)
      const userReturnURL = request.userReturnURL ?? 'https://merchant.example/return'
      const body = { clientID: seed.owner, requestID, start, end, userReturnURL, cycle, amount }
      const one = billing.create({ ...seed, request: body })
      if (authorizedAt !== undefined) billing.authorize(one, payments, authorizedAt, true)
      return one
    })
    for (const { owner, accessToken, refreshToken, expiresAt } of seeds.tokens) {
      tokens.add(owner, accessToken, refreshToken, expiresAt)
    }
    agenda.runDue()
    return added.map(views.state)
  }

  return {
    token: tokens.grant,
    merchant: tokens.merchant,
    /** Creates a subscription request (S-b). */
    subscribe(merchant: Merchant, fields: Fields) {
      const { requestIds } = present()
      const read = readRequest(merchant, fields)
      if (!read.ok) return read
      const { owner, request } = read.value
      if (options.duplicateRequest === 'refuse' && requestIds.has(requestKey(owner, request.requestID))) {
        return refused('duplicate_request', 'requestID has been used before.', {
          field: 'requestID',
          explanation: 'Option subscriptions.duplicateRequest is "refuse".',
        })
      }
      const { invoiceId } = billing.create(read.value)
      const url = `${baseUrl('subscriptions').replace(/\/+$/, '')}${authorizationPath(invoiceId)}`
      return ok({ url, invoiceID: invoiceId })
    },
    /** Returns the status of a subscription request (S-c). */
    status: (merchant: Merchant, invoiceId: string) =>
      own(merchant, 'Subscription request', invoiceId, (one) => ok(views.status(one))),
    /** Returns the details of a subscription (S-d). */
    details: (merchant: Merchant, subscriptionId: string) =>
      own(merchant, 'Subscription', subscriptionId, (one) => ok(views.details(one))),
    /** Cancels a subscription (S-e). */
    cancel: (merchant: Merchant, subscriptionId: string) =>
      own(merchant, 'Subscription', subscriptionId, (one) => {
        const isAgain = one.cancellation !== undefined || !allows(one, 'cancel', now())
        if (isAgain && options.cancelTwice === 'refuse') {
          return notAllowed(
            'The subscription cannot be canceled.',
            `${one.cancellation === undefined ? `The subscription is ${standing(one).phase}` : 'The subscription already has a cancellation'}; option subscriptions.cancelTwice is "refuse".`,
          )
        }
        return ok(views.cancellation(one.cancellation ?? billing.cancel(one)))
      }),
    /** Returns a cancellation (S-f). `id` is a subscriptionId, a cancellation's id or a cancellation's requestID. */
    cancellation(merchant: Merchant, id: string) {
      const ofCancellation = findCancellation(present(), id)?.subscriptionId ?? id
      const subscriptionId = state.subscriptions.bySubscription.has(id) ? id : ofCancellation
      return own(merchant, 'Cancellation', subscriptionId, ({ cancellation }) =>
        cancellation === undefined
          ? notFound('Cancellation', 'The subscription exists, but has not been canceled.')
          : ok(views.cancellation(cancellation)),
      )
    },
    /** Returns one page of a subscription's payments (S-g). */
    payments: (merchant: Merchant, subscriptionId: string, query: URLSearchParams) =>
      own(merchant, 'Subscription', subscriptionId, ({ payments }) =>
        ok({ subscriptionPayments: views.payments(pageOf(payments, query, options.paging)) }),
      ),
    /** Returns a payment (S-h). */
    payment(merchant: Merchant, paymentId: string): Result<PaymentBody> {
      const payment = findPayment(present(), paymentId)
      if (payment === undefined) return unknownId('Payment', paymentId)
      const { subscriptionId } = payment.subscription
      return own(merchant, 'Payment', subscriptionId, () => ok(views.payment(payment)))
    },
    /** Returns the identifiers of the subscription to which an invoiceId, subscriptionId or paymentId belongs. */
    correlationFields({
      invoiceId = '',
      subscriptionId = '',
      paymentId = '',
    }: Readonly<Record<string, string>>) {
      const { byInvoice, bySubscription } = state.subscriptions
      const ofPayment = findPayment(state.subscriptions, paymentId)?.subscription
      const one = ofPayment ?? byInvoice.get(invoiceId) ?? bySubscription.get(subscriptionId)
      return {
        requestID: one?.request.requestID,
        invoiceId: one?.invoiceId,
        subscriptionId: one?.subscriptionId,
      }
    },
    /** Returns the data of the page on which the payer authorizes or declines a request. */
    authorization: (invoiceId: string) => asPayer(invoiceId, () => undefined),
    /** Authorizes a request as the payer. `payments` are the outcomes of the first payments. */
    authorize: (
      invoiceId: string,
      { payments = [] }: { readonly payments?: readonly PaymentScript[] } = {},
    ) => decide(invoiceId, 'authorize', (one) => billing.authorize(one, payments, now(), false)),
    /** Declines a request as the payer. */
    decline: (invoiceId: string) =>
      decide(invoiceId, 'decline', (one) => {
        one.declinedAt = now()
      }),
    /** Sets the outcomes of the next payments of a request or subscription. */
    script: (id: string, payments: readonly PaymentScript[]) =>
      either<void>(id, (one) => {
        if (standing(one).closedAt !== undefined) {
          const explanation = `The subscription is ${standing(one).phase}.`
          return notAllowed('The subscription has no future payments.', explanation)
        }
        one.script = [...payments]
        return ok(undefined)
      }),
    /** Cancels a request or subscription as the payer, without an API call of the merchant. */
    end: (id: string) =>
      either(id, (one) => {
        const isCanceled = one.cancellation !== undefined
        if (isCanceled || !allows(one, 'cancel', now())) {
          const explanation = `The subscription is ${standing(one).phase}${isCanceled ? ' and has a cancellation' : ''}.`
          return notAllowed('The subscription cannot be canceled.', explanation)
        }
        billing.cancel(one)
        return ok(views.state(one))
      }),
    /** Reverses a payment: the payer gets the money back. */
    reverse(paymentId: string): Result<PaymentBody> {
      const payment = findPayment(present(), paymentId)
      if (payment === undefined) return notFound('Payment', 'The mock has made no payment with this id.')
      const problem = payment.succeeded
        ? payment.reversal && 'The payment has been reversed before.'
        : 'The payment failed, so no money can be returned.'
      if (problem !== undefined) return notAllowed('The payment cannot be reversed.', problem)
      const reversal = { at: now(), transactionId: ids.text('reversal', ID_LENGTH) }
      state.subscriptions.reversals.set(payment.index, reversal)
      return ok(views.payment({ ...payment, reversal }))
    },
    /** Returns the payments of one subscription, or of all subscriptions, oldest first. */
    paymentsOf(subscriptionId?: string): readonly PaymentBody[] {
      const { payments, bySubscription } = present()
      if (subscriptionId !== undefined)
        return views.payments(bySubscription.get(subscriptionId)?.payments ?? [])
      const timeOf = (index: number): number => payments.at[index] ?? 0
      return views.payments([...payments.at.keys()].sort((one, other) => timeOf(one) - timeOf(other)))
    },
    /** Returns every subscription, oldest first. */
    subscriptions: (): readonly SubscriptionState[] => present().subscriptions.map(views.state),
    /** Returns a subscription as the panel lists it. */
    listed(id: string) {
      const { byInvoice, bySubscription } = present()
      const one = byInvoice.get(id) ?? bySubscription.get(id)
      return one && views.listed(one)
    },
    /** Returns the open request that expires next if nobody decides it. */
    nextToExpire: () =>
      present()
        .subscriptions.filter((one) => standing(one).phase === 'PENDING')
        .sort((one, other) => one.expiresAt - other.expiresAt)[0],
    /** The subscriptions, as the panel reads them page by page. */
    subscriptionList: {
      bounds: () => ({ first: 0, end: present().subscriptions.length }),
      read: (from: number, to: number) => state.subscriptions.subscriptions.slice(from, to).map(views.listed),
    },
    /** The payments, as the panel reads them page by page. */
    paymentList: {
      bounds: () => ({ first: 0, end: present().payments.at.length }),
      read: (from: number, to: number) =>
        views.payments(Array.from({ length: Math.max(0, to - from) }, (_, turn) => from + turn)),
    },
    isToken: tokens.has,
    expireTokens: tokens.expire,
    revokeTokens: tokens.revoke,
    shiftTokenExpiry: tokens.shiftExpiry,
    /** Adds subscriptions and tokens without API calls. If `add` throws, nothing is added. */
    add: (seeds: Seeds) => add(check(seedsSchema, seeds, 'add: ')),
    /** Adds the subscriptions and tokens of the mock's options. */
    seed: (): void => void add({ subscriptions: options.existing, tokens: options.tokens }),
    /** Call this before the clock is set back: requests that have expired by now stay expired. */
    freeze(): void {
      for (const one of present().subscriptions) one.hasExpired ||= now() >= one.expiresAt
      state.subscriptions.tokensIssuedFrom = 0
    },
  }
}
