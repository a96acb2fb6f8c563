/** The rules a mock follows: what the specification states, or also the restrictions we invented. */
export type Rules = 'spec' | 'strict'
