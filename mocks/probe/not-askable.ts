const SLOW = 'it takes hours or days'
const OUTSIDE = 'no response of the API shows it'
const BROWSER = 'it shows only in the browser of the payer'

/** The rows of docs/unknowns.md that the probe does not ask: the row, the reason, and a question for the provider. */
export const notAskable: readonly (readonly [row: string, reason: string, question: string])[] = [
  ['1', 'the configuration states it', 'Do both APIs have the same base URL in production?'],
  ['2', 'correct requests have a known path', 'What is the response to an unknown path?'],
  ['5', 'a server may stop at any check', 'In which order are requests checked?'],
  ['6', 'no client sends HEAD', 'Do the read routes accept HEAD?'],
  ['10', SLOW, 'Which statuses can a request have, and when does it expire?'],
  ['13', 'a reversal needs the provider', 'Which types do the reversal fields have after a reversal?'],
  [
    '15',
    'it shows only at 23:30',
    'May a subscription that is requested at exactly 23:30:00 start today, and in which time zone is 23:30?',
  ],
  ['22', BROWSER, 'Is a query or fragment of userReturnURL kept?'],
  ['24', SLOW, 'Is a failed payment retried, how often and when?'],
  ['26', SLOW, 'Which payment results can the sandbox simulate, and how?'],
  ['37', 'rows 35, 38 and 43 show it', 'What do the bodies of 401, 403 and 429 contain?'],
  ['45', OUTSIDE, 'How are notifications delivered, and which response is expected?'],
  ['46', OUTSIDE, 'Are notifications signed, and how?'],
  ['47', OUTSIDE, 'Are notifications delivered again, how often and when?'],
  ['48', OUTSIDE, 'Which changes cause a notification?'],
  ['60', OUTSIDE, 'Is an amount in whole or in minor units?'],
  ['62', 'row 61 shows it', 'Which values can outcome have?'],
  ['63', SLOW, 'When does pending_retry end?'],
  ['64', SLOW, 'When does an unconfirmed charge expire?'],
  ['73', SLOW, 'How long and for which calls is an Idempotency-Key valid?'],
  ['80', OUTSIDE, 'Which events are stored, and how are they read?'],
  ['83', BROWSER, 'What is added to redirect_uri when the payer returns?'],
]
