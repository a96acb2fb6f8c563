import { type Answer, type Reply, replyOf } from './question.ts'
import type { Recording } from './recording.ts'

/** A line of the session file. The first names the session; the others follow in the order in which things happened. */
export type SessionLine =
  | { readonly session: string; readonly asks: string }
  /** A request that may act was about to be sent, or a person has acted. */
  | { readonly sent: string }
  /** An exchange. `id` names the request of a question; without it, the request was refused and sent again. */
  | { readonly id?: string; readonly recording: Recording }
  | { readonly question: string; readonly answer: Answer }

/** What happened in a session so far, from its file. A killed run resumes from it. */
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
    /** Returns a text that only this session uses. The same suffix gives the same text, also after a restart. */
    name: (suffix: string): string => `probe-${session}-${suffix}`,
    replyTo: (id: string) => replies.get(id),
    wasSent: (id: string): boolean => sent.has(id),
    answerTo: (question: string) => answers.get(question),
    add,
    recordings: (): readonly Recording[] => recordings,
  }
}
