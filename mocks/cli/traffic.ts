import { styleText } from 'node:util'
import type { EndedDelivery } from '../delivery/types.ts'
import type { LoggedRequest } from '../http/request-log.ts'

type Color = 'cyan' | 'dim' | 'green' | 'red' | 'yellow'

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

  type Timed = Pick<LoggedRequest, 'at' | 'status' | 'durationMs'>

  const line = ({ at, status, durationMs }: Timed, name: string, object: string, text: string): string => {
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
      const { status, operation, method, path, objectId, idempotencyKey = '' } = request
      requests.all += 1
      if (status === undefined || status >= 500) requests.failed += 1
      else if (status >= 400) requests.refused += 1
      if (isJson) return `${JSON.stringify({ kind: 'request', ...request })}\n`
      const name = operation ?? `${method} ${printable(path)}`
      const [object, text] = [printable(objectId ?? idempotencyKey), printable(reasonOf(request))]
      return `${line(request, name, object, text)}\n`
    },

    /** Returns the line of a delivery attempt. */
    delivery({ message, ...delivery }: EndedDelivery): string {
      const { attempt, delivered, error, to } = delivery
      deliveries.all += 1
      if (!delivered) deliveries.failed += 1
      if (isJson) return `${JSON.stringify({ kind: 'delivery', ...delivery, message })}\n`
      const retried = attempt === 1 ? '' : `, attempt ${attempt}`
      const reason = error === undefined ? '' : `: ${error}`
      const text = printable(`${message.status} to ${to ?? 'a function'}${retried}${reason}`)
      const object = printable(message.subscriptionId)
      return `${line(delivery, 'notification', object, text)}\n`
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
