import { type Answer, type Reply, replyOf } from './question.ts'
import type { Recording } from './recording.ts'

/** A line of the session file. The first line names the session. The other lines are in the order of the events. */
export type SessionLine =
  | { readonly session: string; readonly asks: string }
  /** Written before a request that may act, and after a person has acted. */
  | { readonly sent: string }
  /** An exchange. `id` names the request of a question. It is absent if the request got a 429 and was sent again. */
  | { readonly id?: string; readonly recording: Recording }
  | { readonly question: string; readonly answer: Answer }

/** The events of a session so far, read from its file. A killed run resumes from them. */
export type Session = ReturnType<typeof openSession>

/**
 * Opens a session.
 *
 * @param lines the lines of its file; none for a new session
 * @param asks the addresses that the session asks
 * @param write appends a line to its file, before it returns
 */
export const openSession = (
  lines: readonly SessionLine[],
  newId: string,
  asks: string,
  write: (line: SessionLine) => void,
) => {
  const replies = new Map<string, Reply>()
  const sent = new Set<string>()
  const answers = new Map<string, Answer>()
  const recordings: Recording[] = []
  let session: string | undefined
  let asked = asks

  const keep = (line: SessionLine): void => {
    if ('session' in line) {
      session = line.session
      asked = line.asks
    }
    if ('sent' in line) sent.add(line.sent)
    if ('question' in line) answers.set(line.question, line.answer)
    if (!('recording' in line)) return
    recordings.push(line.recording)
    const { response } = line.recording
    if (line.id !== undefined && response !== undefined) replies.set(line.id, replyOf(response))
  }
  const add = (line: SessionLine): void => {
    write(line)
    keep(line)
  }

  for (const line of lines) keep(line)
  if (session === undefined) add({ session: newId, asks })
  return {
    /** The addresses that the session asks, from its first line. */
    asks: asked,
    /** Returns a text that only this session uses. The same suffix gives the same text, even after a restart. */
    name: (suffix: string): string => `probe-${session}-${suffix}`,
    replyTo: (id: string) => replies.get(id),
    wasSent: (id: string): boolean => sent.has(id),
    answerTo: (question: string) => answers.get(question),
    add,
    recordings: (): readonly Recording[] => recordings,
  }
}
