import { received } from '../../src/contract/fields.ts'
import { defaultErrorCodes } from '../subscriptions/options.ts'
import {
  found,
  needed,
  type Question,
  questionsOf,
  reported,
  sameReply,
  shown,
  textOf,
  Unanswered,
} from './question.ts'
import {
  acceptance,
  among,
  ask429,
  askLimit,
  askLockout,
  askMaxEnd,
  askPaging,
  askRefresh,
  askStatuses,
  askVariant,
  errorCode,
  flagOf,
  invalidRequest,
  MOST_CALLS,
  patternOf,
  repeatedRequest,
  secondCancel,
} from './subscriptions-answers.ts'
import {
  amounts,
  authorized,
  canceled,
  canceledDetails,
  DAYS_AHEAD,
  invoiceIn,
  NOBODYS_INVOICE,
  offset,
  pendingDetails,
  processed,
  request,
  status,
  subscribeWith,
  unknownInvoice,
} from './subscriptions-steps.ts'
import { dayAfter, zoneAt } from './zones.ts'

const question = questionsOf('subscriptions')
const read = question('read')
const write = question('write')

/** The questions to area S. Within a level they are asked in this order. */
export const subscriptionsQuestions: readonly Question[] = [
  read('42', 'rateLimit', 3, 'a login; reads the rate-limit headers', askLimit),
  read('33', 'tokenTtl', 1, 'a login', async (ask) => {
    const { body } = await ask.shared('login', (each) => each.login())
    const seconds = Number(body.expires_in)
    if (!(seconds > 0)) throw new Unanswered('expires_in is not a number of seconds')
    return found({ tokenTtl: { seconds } }, `${seconds} s`)
  }),
  read('50', 'tokenEnvelope', 1, 'a login', async (ask) => {
    const { body } = await ask.shared('login', (each) => each.login())
    const tokenEnvelope = 'errorCode' in body
    return found({ tokenEnvelope }, tokenEnvelope ? 'errorCode is there' : 'no errorCode')
  }),
  read('40', 'notFoundStatus errorCodes', 1, 'the status of an unknown invoice', async (ask) => {
    const reply = await unknownInvoice(ask)
    const known = among('notFoundStatus', [200, 400, 404], reply.status, shown(reply))
    return 'found' in known
      ? { ...known, found: { ...known.found, errorCodes: errorCode('not_found', reply) } }
      : known
  }),
  read('38', 'errorCodes', 1, 'the status of an unknown invoice without a token', async (ask) => {
    const path = [NOBODYS_INVOICE]
    const reply = await ask.send({ operation: 'subscriptions.status', path, body: {}, auth: 'none' })
    if (reply.status !== 401) throw new Unanswered(`a call without a token got ${shown(reply)}`)
    return found({ errorCodes: errorCode('unauthorized', reply) }, shown(reply))
  }),
  read('3', 'contentType', 1, 'a read with the content type text/plain', async (ask) => {
    const reply = await status(ask, NOBODYS_INVOICE, '{"probe":1}', { 'content-type': 'text/plain' })
    return found({ contentType: reply.status === 415 ? 'json' : 'any' }, shown(reply))
  }),
  read('4', 'unknownFields', 2, 'a read with an unknown field', async (ask) => {
    const usual = await unknownInvoice(ask)
    const reply = await status(ask, NOBODYS_INVOICE, { probe: 1 })
    return found({ unknownFields: sameReply(usual, reply) ? 'ignore' : 'refuse' }, shown(reply))
  }),
  read('31', '', 1, 'a read without a body', async (ask) => {
    const reply = await status(ask, NOBODYS_INVOICE, undefined)
    return reported(
      `${sameReply(await unknownInvoice(ask), reply) ? 'as with {}' : 'not as with {}'}: ${shown(reply)}`,
    )
  }),
  read(
    '41',
    'paging',
    5,
    'pages of the payments of the configured subscription',
    askPaging,
    'subscriptionId',
  ),
  write(
    '34',
    'refresh',
    3,
    'a login, its refresh token, and a login; a server that does not know the grant may count a failed login',
    async (ask) => {
      const answer = await askRefresh(ask)
      // A success ends the count of failed logins.
      await ask.login()
      return answer
    },
  ),
  write(
    '32',
    '',
    2,
    'a login as a form, and one as JSON; a server that does not read forms may count a failed login',
    async (ask) => {
      const reply = await ask.login(undefined, true)
      await ask.login()
      return reported(`a form: ${shown(reply)}`)
    },
  ),
  write('19', 'amountPattern', 4, 'four subscription requests with 0 to 3 decimals', async (ask) => {
    const { decimals } = await amounts(ask)
    const accepted = decimals.flatMap((each, count) => (each ? [count] : []))
    return found({ amountPattern: patternOf(decimals) }, `accepted with ${accepted.join(', ')} decimals`)
  }),
  write('11', 'pendingSubscriptionId', 1, 'the status of a new request', async (ask) => {
    const { body } = (await request(ask)).pending
    const id = received(body, 'subscriptionId')
    const value = id === undefined ? 'omit' : id === '' || id === 'NA' ? id : 'issued'
    return id === null
      ? { unknown: 'the mock has no such value', seen: 'null' }
      : found(
          { pendingSubscriptionId: value },
          value === 'issued' ? 'an id' : (JSON.stringify(id) ?? 'no field'),
        )
  }),
  write('14', 'timeZone', 0, 'nothing more: compares createdAt with the header Date', async (ask) => {
    const minutes = await offset(ask)
    const timeZone = zoneAt(minutes)
    const seen = `createdAt is ${minutes} minutes ahead of Date`
    return timeZone === undefined
      ? { unknown: 'no known zone has this distance', seen }
      : found({ timeZone }, `${seen}; a zone with summer time has another distance at other dates`)
  }),
  write(
    '38',
    'errorCodes',
    2,
    'a subscription request with an invalid cycle, and one with a clientID that nobody has',
    async (ask) => {
      const { reply: success } = await request(ask)
      const invalid = await invalidRequest(ask)
      const foreign = await subscribeWith(ask, 'client', { clientID: ask.name('client') })
      const { errorCode: code } = success.body
      const errorCodes = {
        success: code === 0 ? defaultErrorCodes.success : String(code),
        ...(invoiceIn(invalid) === undefined && errorCode('invalid', invalid)),
        ...(invoiceIn(foreign) === undefined && errorCode('client_mismatch', foreign)),
      }
      return found(
        { errorCodes },
        Object.entries(errorCodes)
          .map((pair) => pair.join(' '))
          .join(', '),
      )
    },
  ),
  write('16', 'pastStart', 1, 'a subscription request that starts three days ago', async (ask) => {
    const start = dayAfter(ask.now(), await offset(ask), -3)
    return acceptance('pastStart', 'a start in the past', await subscribeWith(ask, 'past', { start }))
  }),
  write('17', '', 1, 'a subscription request that ends before its start', async (ask) => {
    const end = dayAfter(ask.now(), 0, DAYS_AHEAD - 1)
    return reported(`an end before the start: ${shown(await subscribeWith(ask, 'backwards', { end }))}`)
  }),
  write('18', 'maxEnd', 20, 'up to 20 subscription requests that end later and later', askMaxEnd),
  write('20', 'duplicateRequest', 2, 'two subscription requests with one requestID', async (ask) =>
    acceptance('duplicateRequest', 'the same requestID', await repeatedRequest(ask)),
  ),
  write(
    '21',
    'clientMismatch',
    1,
    'a subscription request with the other clientID',
    async (ask) => {
      const reply = await subscribeWith(ask, 'other', { clientID: ask.config.otherClientId })
      return acceptance('clientMismatch', 'another clientID', reply)
    },
    'otherClientId',
  ),
  write('23', 'debitTime', 1, 'the details of a subscription', async (ask) => {
    const reply = (await pendingDetails(ask)) ?? (await authorized(ask)).reply
    const time = /[ T](\d{2}:\d{2}:\d{2})/.exec(needed(reply.body, 'nextPaymentDate'))?.[1]
    if (time === undefined) throw new Unanswered('nextPaymentDate has no time')
    return found({ debitTime: time }, `nextPaymentDate at ${time}`)
  }),
  write(
    '12',
    'enabledValues',
    4,
    'the details of a subscription before and after a person authorizes it',
    async (ask) => {
      const active = flagOf((await authorized(ask)).reply)
      const inactive = flagOf((await pendingDetails(ask)) ?? (await canceledDetails(ask)))
      if (active === undefined || inactive === undefined) throw new Unanswered('enabled is not a number')
      return found({ enabledValues: { active, inactive } }, `${active} while active, else ${inactive}`)
    },
  ),
  write('29', '', 0, 'the cancellation of a subscription that is not canceled', async (ask) =>
    reported(shown((await canceled(ask)).before)),
  ),
  write('27', 'cancelDelay', 62, 'a cancellation, and its status until it is PROCESSED', async (ask) => {
    const seconds = await processed(ask)
    return found({ cancelDelay: { seconds } }, `PROCESSED after ${seconds} s`)
  }),
  write('28', 'cancelTwice', 1, 'a second cancellation', async (ask) => {
    const reply = await secondCancel(ask)
    const same = textOf(reply.body, 'status') !== undefined
    const codes = same ? {} : { errorCodes: errorCode('state', reply) }
    return found({ cancelTwice: same ? 'same' : 'refuse', ...codes }, shown(reply))
  }),
  write('25', 'nextPaymentDateAfterEnd', 1, 'the details after the cancellation', async (ask) => {
    const next = received((await canceledDetails(ask)).body, 'nextPaymentDate')
    if (next === null) return found({ nextPaymentDateAfterEnd: 'null' }, 'null')
    return typeof next === 'string' && next !== ''
      ? found({ nextPaymentDateAfterEnd: 'date' }, 'a date')
      : { unknown: 'the mock has no such value', seen: JSON.stringify(next) ?? 'no field' }
  }),
  write('30', '', 1, 'a cancellation by its own id', async (ask) => {
    const path = [needed((await canceled(ask)).reply.body, 'id')]
    return reported(shown(await ask.send({ operation: 'subscriptions.cancellation', path, body: {} })))
  }),
  write('39', 'validationStatus errorsAs200', 1, 'a subscription request with an invalid cycle', askStatuses),
  write('44', 'variant', 1, 'nothing more: reads the casing and the types', askVariant),
  question('rate-limit')('43', 'sendRetryAfter', MOST_CALLS, 'reads until a 429', ask429),
  question('lockout')(
    '35',
    'lockout',
    10,
    'wrong logins, at most as many as the flag allows; the user may be locked afterwards',
    askLockout,
  ),
]
