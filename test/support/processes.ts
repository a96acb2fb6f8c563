import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

/** Starts a program that talks with the test by messages, and ends with it. `first` is the program's first message. */
export const startProcess = async <First>(
  program: URL,
  parameters: readonly unknown[],
  execArgv: string[] = [],
) => {
  const child = fork(fileURLToPath(program), parameters.map(String), {
    execArgv: ['--no-warnings', ...execArgv],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const next = async () => (await once(child, 'message'))[0]
  const first: First = await next()
  return {
    first,
    /** Sends a word, and returns the program's next message. */
    async ask<Answer>(word: string): Promise<Answer> {
      const answer = next()
      child.send(word)
      return answer
    },
    /** Sends a word, and ends the program before it answers. The returned function ends it. */
    tell(word: string) {
      child.send(word)
      return async () => {
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
    },
  }
}
