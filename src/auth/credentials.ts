import { check } from '../check.ts'
import { type Input, input, object } from '../contract/fields.ts'
import { orFunction, readSecret } from './authorizer.ts'

/** The operation id in errors about credentials. */
export const LOGIN = 'subscriptions.login'

// `\p{Cs}` matches half of a surrogate pair. JSON and forms cannot carry such a character reliably.
const credential = input(
  'a string that is not blank and has no control characters',
  (value) => value.trim() !== '' && !/[\p{Cc}\p{Cs}]/u.test(value),
)

const credentials = {
  /** The merchant application's id, sent as `client_id`. `subscribe` sends it as `clientID` by default. (S-a) */
  clientId: credential,
  /** The merchant application's secret, sent as `client_secret`. (S-a) */
  clientSecret: credential,
  /** The name of the user who logs in. After several failed logins, the API locks this user. (S-a) */
  username: credential,
  /** The user's password. (S-a) */
  password: credential,
}
/** The credentials of a merchant's login. (S-a) */
export interface Credentials extends Input<typeof credentials> {}

/**
 * Credentials, or a function that returns them. The client calls the function when it needs a new token. After a
 * rejected login, it calls the function for each API call that needs a token, because the result may have changed.
 */
export type CredentialsSource = Credentials | (() => Credentials | Promise<Credentials>)

// The schema accepts additional fields, such as a region.
const credentialsSchema = object<Credentials>(
  credentials,
  'an object with clientId, clientSecret, username and password, or a function that returns one',
)

export const credentialsOption = orFunction<CredentialsSource>(credentialsSchema)

export const readCredentials = async (source: CredentialsSource): Promise<Credentials> => {
  const given = await readSecret(LOGIN, 'credentials', source)
  return check(LOGIN, credentialsSchema, given, 'credentials', { phase: 'login' })
}
