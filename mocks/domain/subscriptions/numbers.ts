// Numbers of payments, cancellations and cancellation requests lie apart, so that none is mistaken for another.
const FIRST_PAYMENT = 1_000_001
const FIRST_CANCELLATION = 500_000_001
const FIRST_CANCELLATION_REQUEST = 700_000_001
const WHOLE_NUMBER = /^[1-9]\d{0,14}$/

/** The paymentId of a payment (S6). */
export const paymentIdOf = (index: number): number => FIRST_PAYMENT + index
/** The id of a cancellation (S5). */
export const cancellationIdOf = (index: number): number => FIRST_CANCELLATION + index
/** The requestID of a cancellation (S5). */
export const cancellationRequestIdOf = (index: number): number => FIRST_CANCELLATION_REQUEST + index

const indexOf = (text: string, first: number): number | undefined =>
  WHOLE_NUMBER.test(text) && Number(text) >= first ? Number(text) - first : undefined

/** The payment that a path segment names. */
export const paymentIndexOf = (text: string): number | undefined => indexOf(text, FIRST_PAYMENT)

/** The cancellation that a path segment may name, by its id or its requestID (row 30). */
export const cancellationIndexOf = (text: string): number | undefined =>
  indexOf(text, FIRST_CANCELLATION_REQUEST) ?? indexOf(text, FIRST_CANCELLATION)
