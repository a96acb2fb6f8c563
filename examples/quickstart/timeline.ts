/** Prints each step with its time. */
export interface Timeline {
  title(text: string): void
  line(step: string, text: string): void
}

/** Creates a timeline whose times come from `now`, in milliseconds since 1970. */
export const createTimeline = (now: () => number): Timeline => ({
  title: (text) => {
    console.log(`\n${text}`)
  },
  line: (step, text) => {
    const time = new Date(now()).toISOString().replace('T', ' ').slice(0, 19)
    console.log(`${time}Z  ${step.padEnd(22)} ${text}`)
  },
})
