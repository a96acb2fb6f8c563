/** A row that no question asks, with the question to put to the provider. */
export interface NotAskable {
  readonly row: string
  readonly reason: string
  readonly question: string
}

const row = (name: string, reason: string, question: string): NotAskable => ({ row: name, reason, question })

const SLOW = 'it takes hours or days'
const OUTSIDE = 'no response of the API shows it'

/** The rows of docs/unknowns.md that no question asks. */
export const notAskable: readonly NotAskable[] = [
  row('1', 'the configuration states it', 'Do both APIs have the same base URL in production?'),
  row('2', 'it matters to nobody who sends correct paths', 'What is the response to an unknown path?'),
  row('5', 'a server may stop at any check', 'In which order are requests checked?'),
  row('6', 'no client sends HEAD', 'Do the read routes accept HEAD?'),
  row('10', SLOW, 'Which statuses has a request, and when does it expire?'),
  row('13', 'a reversal needs the provider', 'Which types have the reversal fields after a reversal?'),
  row('15', 'it shows only at 23:30', 'Is 23:30:00 itself still in time, and in which time zone?'),
  row('22', 'it shows only in the browser of the payer', 'Is a query or fragment of userReturnURL kept?'),
  row('24', SLOW, 'Is a failed payment retried, how often and when?'),
  row('26', SLOW, 'Which outcomes of payments can be provoked in the sandbox?'),
  row('36', 'a wrong guess may count as a failed login', 'Does /auth/login exist, and what does it return?'),
  row('37', 'rows 35, 38 and 43 show it', 'Which bodies have 401, 403 and 429?'),
  row('45', OUTSIDE, 'How are notifications delivered, and which response is expected?'),
  row('46', OUTSIDE, 'Are notifications signed, and how?'),
  row('47', OUTSIDE, 'Are notifications delivered again, how often and when?'),
  row('48', OUTSIDE, 'Which changes cause a notification?'),
  row('49', 'the configuration states it', 'How is another version of the API selected?'),
  row('60', OUTSIDE, 'Is an amount in whole or in minor units?'),
  row('62', 'row 61 shows it', 'Which values has outcome?'),
  row('63', SLOW, 'When does pending_retry end?'),
  row('64', SLOW, 'When does an unconfirmed charge expire?'),
  row(
    '65',
    'the questions use the methods of the client',
    'Which HTTP methods have the routes of the gateway?',
  ),
  row('73', SLOW, 'How long and for which calls does an Idempotency-Key hold?'),
  row('73a', 'two calls seldom overlap', 'What does a second call get while the first with its key runs?'),
  row('76', 'row 61 shows it', 'Which status has the response to a renewal that fails?'),
  row('80', OUTSIDE, 'Which events are stored, and how are they read?'),
  row(
    '83',
    'it shows only in the browser of the payer',
    'What is added to redirect_uri when the payer returns?',
  ),
]
