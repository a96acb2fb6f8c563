import type { Output, Shape } from '../../src/contract/fields.ts'
import { jsonOf, object, STRING, schema } from '../../src/contract/fields.ts'
import { check } from '../base/fields.ts'
import type { Mock } from '../types.ts'
import { convert, type SentFields } from './sent.ts'

/** The message of an action, and the page of what it created. */
export interface Done {
  readonly message: string
  readonly page?: string
}

/** Accepts the field `action`, and removes it from the checked fields. */
const nameOfAction = schema(
  () => STRING,
  () => undefined,
)

/** An action of the panel: the schemas of its fields, and the function that executes it and returns a message. */
export interface Action {
  /** Says what the action does, in one sentence. */
  readonly description: string
  readonly fields: Shape
  /** `isForm` tells whether a form sent the fields: text, which is converted. */
  run(mock: Mock, sent: SentFields, isForm: boolean): Promise<Done>
}

type Result = string | Done

/** Creates an action. Its fields are checked before it runs. */
export const action = <const Of extends Shape>(
  description: string,
  fields: Of,
  run: (mock: Mock, given: Output<Of>) => Result | Promise<Result>,
): Action => {
  const checked = object<Output<Of>>({ ...fields, action: nameOfAction }, 'fields', 'field')
  return {
    description,
    fields,
    async run(mock, sent, isForm) {
      const converted = Object.entries(sent).map(([name, value]) => {
        const one = isForm && Object.hasOwn(fields, name) ? fields[name] : undefined
        return [name, one === undefined ? value : convert(jsonOf(one), value)]
      })
      const result = await run(mock, check(checked, Object.fromEntries(converted)))
      return typeof result === 'string' ? { message: result } : result
    },
  }
}

/** An action without fields. */
export const simple = (
  description: string,
  change: (mock: Mock) => void | Promise<void>,
  message: string,
): Action =>
  action(description, {}, async (mock) => {
    await change(mock)
    return message
  })
