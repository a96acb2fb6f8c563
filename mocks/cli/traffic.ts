import { styleText } from 'node:util'
import { gatewayContract } from '../../src/contract/gateway.ts'
import { subscriptionsContract } from '../../src/contract/subscriptions.ts'
import type { EndedDelivery } from '../delivery/types.ts'
import type { LoggedRequest } from '../http/request-log.ts'

type Color = 'cyan' | 'dim' | 'green' | 'red' | 'yellow'

const templates = new Map<string, string>(
  [...Object.values(subscriptionsContract), ...Object.values(gatewayContract)].map(({ operation, path }) => [
    operation,
    path,
  ]),
)

/** Returns the identifier in a request's path. Compares from the path's end, because a mock may have another prefix. */
const idInPath = ({ operation, path }: LoggedRequest): string | undefined => {
  const template =
    templates
      .get(operation ?? '')
      ?.split('/')
      .toReversed() ?? []
  const segments = path.split('?', 1)[0]?.split('/').toReversed() ?? []
  return segments[template.findIndex((segment) => segment.startsWith(':'))]
}

/** Returns the identifier of the subscription or charge that a request created or names; empty if there is none. */
const objectOf = (request: LoggedRequest): string => {
  const { id, invoiceID } = Object(request.response)
  return String(idInPath(request) ?? id ?? invoiceID ?? request.idempotencyKey ?? '')
}

/** Returns why a response is not a success: the mock's decision and its explanation. */
const reasonOf = ({ status, decision, explanation }: LoggedRequest): string =>
  decision === 'accepted' || (decision === 'page' && Number(status) < 400)
    ? ''
    : `${decision}: ${explanation}`

const colorOf = (status: number | undefined): Color => {
  if (status === undefined || status >= 500) return 'red'
  return status >= 400 ? 'yellow' : 'green'
}

const STATUS_WIDTH = 4
const NAME_WIDTH = 26

const plural = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`

/**
 * Creates the log of the command, which turns each request and each delivery into one line, and counts them.
 *
 * @param isJson whether each line is a JSON object
 */
export const createTraffic = ({ isJson, isColored }: { isJson: boolean; isColored: boolean }) => {
  const requests = { all: 0, refused: 0, failed: 0 }
  const deliveries = { all: 0, failed: 0 }

  const paint = (color: Color, text: string): string =>
    isColored ? styleText(color, text, { validateStream: false }) : text

  const line = (parts: {
    readonly at: Date
    readonly status: number | undefined
    readonly name: string
    readonly object: string
    readonly text: string
    readonly durationMs: number
  }): string => {
    const { at, status, name, object, text, durationMs } = parts
    const time = at.toISOString().slice(0, 19).replace('T', ' ')
    const cells = [
      paint('dim', time),
      paint(colorOf(status), String(status ?? 'none').padEnd(STATUS_WIDTH)),
      paint('cyan', name.padEnd(NAME_WIDTH)),
      ...[object, text].filter((cell) => cell !== ''),
      paint('dim', `${durationMs} ms`),
    ]
    return cells.join(' ')
  }

  // A path or an identifier may contain control characters, which would move the terminal's cursor.
  const printable = (text: string): string => text.replace(/\p{Cc}/gu, '?')

  return {
    /** Returns the line of a request. */
    request(request: LoggedRequest): string {
      const { at, status, operation, method, path, durationMs } = request
      requests.all += 1
      if (status === undefined || status >= 500) requests.failed += 1
      else if (status >= 400) requests.refused += 1
      if (isJson) return `${JSON.stringify({ kind: 'request', ...request })}\n`
      const name = operation ?? `${method} ${printable(path)}`
      const [object, text] = [printable(objectOf(request)), printable(reasonOf(request))]
      return `${line({ at, status, name, object, text, durationMs })}\n`
    },

    /** Returns the line of a delivery attempt. */
    delivery({ message, ...delivery }: EndedDelivery): string {
      const { at, status, attempt, delivered, error, to, durationMs } = delivery
      deliveries.all += 1
      if (!delivered) deliveries.failed += 1
      if (isJson) return `${JSON.stringify({ kind: 'delivery', ...delivery, message })}\n`
      const retried = attempt === 1 ? '' : `, attempt ${attempt}`
      const reason = error === undefined ? '' : `: ${error}`
      const text = printable(`${message.status} to ${to ?? 'a function'}${retried}${reason}`)
      const object = printable(message.subscriptionId)
      return `${line({ at, status, name: 'notification', object, text, durationMs })}\n`
    },

    /** Returns the counts, as a sentence. */
    summary(): string {
      const parts = [
        plural(requests.all, 'request', 'requests'),
        `${requests.refused} refused (4xx)`,
        `${requests.failed} failed (5xx or no response)`,
        plural(deliveries.all, 'delivery', 'deliveries'),
        `${deliveries.failed} failed`,
      ]
      return `\nStopped after ${parts.slice(0, 3).join(', ')}; ${parts.slice(3).join(', ')}.\n`
    },
  }
}
