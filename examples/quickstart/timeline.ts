import { styleText } from 'node:util'

/** Prints a sentence, the time and the operation of each step of the program. A line has at most 100 columns. */
export interface Timeline {
  title(text: string): void
  /** Prints a sentence without a time. */
  text(sentence: string): void
  /** Prints a step that is not a call. */
  note(text: string): void
  /** Makes a call, prints the text that `words` returns for the result, and returns the result. */
  call<Result>(
    operation: string,
    make: () => Promise<Result>,
    words: (result: Result) => string,
  ): Promise<Result>
}

/** The stream that a timeline writes to: `process.stdout`, or a fake stream in a test. */
export interface Output {
  /** True for a terminal. Files and pipes get plain lines. */
  readonly isTTY?: boolean
  write(text: string): unknown
}

const FRAMES = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'
const FRAME_MS = 80
const CLEAR_LINE = '\r\u001B[2K'

const SENTENCE_WIDTH = 52

/** Breaks a text into lines between its words. A longer word, such as a URL, gets a line of its own. */
const wrapped = (text: string): readonly string[] => {
  const lines = ['']
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? ''
    const longer = last === '' ? word : `${last} ${word}`
    if (last === '' || longer.length <= SENTENCE_WIDTH) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines
}

/** Creates a timeline whose times come from `now`, in milliseconds since 1970. */
export const createTimeline = (now: () => number, output: Output = process.stdout): Timeline => {
  const isTerminal = output.isTTY === true && process.env.TERM !== 'dumb'
  const colored = isTerminal && !process.env.NO_COLOR
  const style = (format: 'bold' | 'cyan' | 'dim' | 'green', text: string): string =>
    colored ? styleText(format, text, { validateStream: false }) : text

  const line = (step: string, text: string): void => {
    const time = new Date(now()).toISOString().replace('T', ' ').slice(0, 16)
    const mark = isTerminal ? `${style('green', '✓')} ` : ''
    const [first = '', ...others] = wrapped(text)
    const sentence = step === '' ? first : `${first.padEnd(SENTENCE_WIDTH)} ${style('cyan', step)}`
    output.write(`${mark}${style('dim', time)}  ${sentence}\n`)
    const indent = ' '.repeat(time.length + (isTerminal ? 4 : 2))
    for (const other of others) output.write(`${indent}${other}\n`)
  }

  /** Shows the running operation until the returned function is called. */
  const showProgress = (operation: string): (() => void) => {
    if (!isTerminal) return () => undefined
    const started = performance.now()
    const draw = (): void => {
      const elapsed = performance.now() - started
      const frame = FRAMES[Math.floor(elapsed / FRAME_MS) % FRAMES.length] ?? ''
      output.write(`${CLEAR_LINE}${style('cyan', frame)} ${operation} ${Math.floor(elapsed / 1000)} s`)
    }
    draw()
    const timer = setInterval(draw, FRAME_MS)
    return () => {
      clearInterval(timer)
      output.write(CLEAR_LINE)
    }
  }

  return {
    title: (text) => {
      output.write(`\n${style('bold', text)}\n`)
    },
    text: (sentence) => {
      output.write(`${sentence}\n`)
    },
    note: (text) => line('', text),
    call: async (operation, make, words) => {
      const done = showProgress(operation)
      const result = await make().finally(done)
      line(operation, words(result))
      return result
    },
  }
}
