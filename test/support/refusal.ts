import { isMandateKitError } from 'mandatekit'

/** Code and outcome of the error that a call ends with; `undefined` for a success. */
export const refusal = async (call: Promise<unknown>): Promise<string | undefined> => {
  try {
    await call
    return undefined
  } catch (error) {
    if (!isMandateKitError(error)) throw error
    return `${error.code} ${error.outcome}`
  }
}
