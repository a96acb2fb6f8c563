/** What the user of the command can put right. It is shown as one sentence, without a stack. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  /** 2: the command was not understood. 1: it could not be done. */
  readonly exitCode: 1 | 2

  constructor(message: string, { exitCode = 1, cause }: { exitCode?: 1 | 2; cause?: unknown } = {}) {
    super(message, { cause })
    this.exitCode = exitCode
  }
}

/** The message of anything thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The code of an error of Node, such as `EADDRINUSE`. */
export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
