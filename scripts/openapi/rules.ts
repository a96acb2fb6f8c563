import { linkTo } from '../marks.ts'
import type { Exchange } from './tour.ts'

/** The text about a rule of the mock. */
interface RuleText {
  readonly text: string
  /** The row of docs/unknowns.md; absent if the specification states the status. */
  readonly row?: string
}

const own = (row: string, text: string): RuleText => ({ row, text })

/** The texts by rule, by area and rule, or by operation and rule. The most exact key applies. */
const RULES: Readonly<Record<string, RuleText>> = {
  'subscriptions unauthorized': { text: 'The access token is missing, unknown or expired.' },
  'subscriptions.login unauthorized': { text: 'The credentials are wrong.' },
  'subscriptions locked_out': {
    text: 'Several logins with wrong credentials have locked the user. The API rejects valid credentials too.',
  },
  'gateway unauthorized': { text: 'The API key is missing or wrong.' },
  rate_limited: { text: 'The rate limit is exceeded.' },
  incorrect_code: { text: 'The code is wrong. The error does not reveal that the code is fixed.' },
  'gateway.health outage': { text: 'The service or its data store is not reachable.', row: '79' },
  'malformed-body': own('3', 'The body is not valid JSON.'),
  'content-type': own('3', 'The body has another content type than `application/json`.'),
  'subscriptions.login content-type': own('3', 'The body is neither JSON nor a form.'),
  'subscriptions invalid': own('39', 'A field is missing or invalid.'),
  'subscriptions not_found': own('40', 'The API does not know the identifier.'),
  'subscriptions.cancellation not_found': own(
    '29',
    'The subscription has no cancellation, or does not exist.',
  ),
  'subscriptions client_mismatch': own(
    '21',
    'The `clientID` was not issued, or belongs to another merchant.',
  ),
  'subscriptions duplicate_request': own('20', 'The `requestID` was used before.'),
  'subscriptions state': own('28', 'The subscription was canceled before, or has ended.'),
  'subscriptions outage': own('38', 'The service is not available.'),
  'gateway invalid': own('70', 'A field is missing or invalid.'),
  'gateway not_found': own('70', 'The API does not know the charge.'),
  'gateway.confirm not_found': own('77', 'The API does not know the confirmation.'),
  'gateway missing_idempotency_key': own('71', 'The header `Idempotency-Key` is missing or blank.'),
  'gateway idempotency_key_in_use': own('73a', 'A request with this `Idempotency-Key` still runs.'),
  'gateway idempotency_key_reused': own('72', 'The `Idempotency-Key` was used with another body.'),
  'gateway redirect_uri_not_allowed': own('69', 'The `redirect_uri` is not in the allowlist.'),
  'gateway already_confirmed': own('77', 'The charge is already confirmed.'),
  'gateway charge_expired': own('77', 'The charge has expired.'),
  'gateway mandate_mismatch': own('74', '`mandate_id` differs from the identifier in the path.'),
  'gateway mandate_not_active': own('75', 'The charge has not succeeded, so it is no mandate.'),
  'gateway outage': own('79', 'The service is not available.'),
}

/** Marks a behavior of the mock that the specification does not show. */
export const notShown = (row: string): string => `([row ${row}](${linkTo('unknowns', `row-${row}`)}))`

/** Returns the text about a refusal. A rule without a text is an error, because it is new in the mock. */
export const describeRefusal = ({ operation, rule }: Exchange): string => {
  const [area] = operation.split('.', 1)
  const found = RULES[`${operation} ${rule}`] ?? RULES[`${area} ${rule}`] ?? RULES[rule]
  if (found === undefined)
    throw new Error(`scripts/openapi/rules.ts has no text about ${rule} of ${operation}.`)
  const { text, row } = found
  return row === undefined ? text : `${text} ${notShown(row)}`
}
