import { check } from './check.ts'
import { inputDate, isObject, optional, strict, wholeNumber } from './contract/fields.ts'
import { idempotencyKey, identifier } from './http/prepare.ts'

const ATTEMPT = wholeNumber(1)

// Letters, digits and `_` stay unchanged. `-` becomes `--`. Any other character becomes `-<code point in hex>-`. Two
// different ids therefore never give the same key.
const encoded = (chargeId: string): string =>
  chargeId.replace(/[^A-Za-z0-9_]/gu, (character) =>
    character === '-' ? '--' : `-${character.codePointAt(0)?.toString(16)}-`,
  )

/**
 * Creates the idempotency key of a renewal for a due date: `renewal_<charge id>_<due date>_<attempt>`.
 *
 * The same mandate, due date and attempt give the same key in every process and after a restart. For each key, the
 * gateway creates only one renewal. The format of keys does not change within a major version. A key has only
 * letters, digits, `-` and `_`, so that job queues accept it as a job id.
 *
 * @param chargeId the id of the mandate's first charge
 * @param dueDate the due date as `YYYY-MM-DD` text; a `Date` is refused, because its day depends on a time zone
 * @param attempt 1 (default) for a due date's first renewal, 2 if that renewal has status `failed`, and so on
 * @throws InvalidRequestError if an argument is invalid
 * @example renewalKey('ch_1', '2026-12-01') // 'renewal_ch_1_2026-12-01_1'
 */
export const renewalKey = (chargeId: string, dueDate: string, attempt = 1): string => {
  check('renewalKey', identifier, chargeId, 'chargeId')
  check('renewalKey', inputDate, dueDate, 'dueDate')
  check('renewalKey', ATTEMPT, attempt, 'attempt')
  return `renewal_${encoded(chargeId)}_${dueDate}_${attempt}`
}

/** The due date of a renewal, or your own idempotency key. With either, a retry cannot charge the payer twice. */
export type RenewalInput =
  | {
      /** The due date, such as `2026-12-01`. The client sends the key `renewalKey(chargeId, dueDate, attempt)`. */
      readonly dueDate: string
      /** 1 (default) for a due date's first renewal, 2 if that renewal has status `failed`, and so on. */
      readonly attempt?: number | undefined
      /** Not allowed together with `dueDate`, from which the client makes the key. */
      readonly idempotencyKey?: undefined
    }
  | {
      /** Your key in visible ASCII, such as `order-1001-2`. For each key, the gateway creates only one renewal. */
      readonly idempotencyKey: string
      /** Not allowed together with `idempotencyKey`. */
      readonly dueDate?: undefined
      /** Not allowed together with `idempotencyKey`. */
      readonly attempt?: undefined
    }

const RENEWAL = strict({ dueDate: inputDate, attempt: optional(ATTEMPT) })
const RENEWAL_BY_KEY = strict({ idempotencyKey })

/** Returns a renewal's key. Throws `InvalidRequestError` if the input has both a due date and a key, or neither. */
export const renewalKeyOf = (operation: string, chargeId: string, renewal: RenewalInput): string => {
  if (isObject(renewal) && renewal.idempotencyKey !== undefined)
    return check(operation, RENEWAL_BY_KEY, renewal, 'request').idempotencyKey
  const { dueDate, attempt } = check(operation, RENEWAL, renewal, 'request')
  return renewalKey(chargeId, dueDate, attempt)
}
