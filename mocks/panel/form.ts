/** The fields of a form of the panel. What is wrong with one is told in words that name it. */
export interface PanelForm {
  /** The field's text without blanks around it; empty when there is none. */
  text(name: string): string
  /** The field's text. Throws a TypeError when there is none. */
  required(name: string): string
  /** The field's number; `undefined` when it is empty. Throws a TypeError for what is no number. */
  number(name: string): number | undefined
}

/** Reads a form that a browser, or a program, has sent. */
export const readForm = (body: string): PanelForm => {
  const fields = new URLSearchParams(body)
  const text = (name: string): string => (fields.get(name) ?? '').trim()
  return {
    text,
    required(name) {
      const value = text(name)
      if (value === '') throw new TypeError(`The field ${name} is missing.`)
      return value
    },
    number(name) {
      const value = text(name)
      if (value === '') return undefined
      if (!/^\d+(\.\d+)?$/.test(value)) throw new TypeError(`The field ${name} is a number, such as 3.`)
      return Number(value)
    },
  }
}
