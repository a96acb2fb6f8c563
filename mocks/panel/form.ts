import { type Json, jsonOf } from '../../src/contract/fields.ts'
import { type Html, type HtmlValue, html } from '../pages/html.ts'
import { type ActionName, actions, isActionName, type Outcome } from './actions.ts'
import { visuallyHidden } from './components.ts'
import { choiceInWords, labelOf, problemsOf } from './words.ts'

interface FormOptions {
  /** Fields that the user does not see. */
  readonly given?: Readonly<Record<string, string | number>>
  /** Words after the button's label, for screen readers only. */
  readonly of?: string
  /** The fields that the user sees at once; the others are under "More options". With `[]`, there are no fields. */
  readonly first?: readonly string[]
  readonly values?: Readonly<Record<string, string>>
  /** True for the main button of a card. Default: true if the user sees a field. */
  readonly isPrimary?: boolean
}

/** Renders the form of an action from the schemas of its fields. */
export type RenderForm = (action: ActionName, label: string, options?: FormOptions) => Html

/** A field of a form. The name may have a dot, such as `when.msisdn`. */
interface FormField {
  readonly name: string
  readonly json: Json
  readonly isRequired: boolean
}

/** The fields that a form offers for an object with any field names. */
const KEYS: Readonly<Record<string, readonly string[]>> = { when: ['msisdn', 'requestID'] }

/** Returns the fields of an action. An object has a field for each of its properties. */
const fieldsOf = (action: ActionName): readonly FormField[] =>
  Object.entries(actions[action].fields).flatMap(([name, schema]): FormField | FormField[] => {
    const json = jsonOf(schema)
    const properties = Object(json.properties)
    const keys = json.properties === undefined ? KEYS[name] : Object.keys(properties)
    if (keys === undefined) return { name, json, isRequired: schema._zod.optin === undefined }
    const jsonIn = (key: string): Json => Object(properties[key] ?? json.additionalProperties)
    return keys.map((key) => ({ name: `${name}.${key}`, json: jsonIn(key), isRequired: false }))
  })

/** The outcome of an action, with the form's words in place of the names of its fields. */
export interface Notice extends Outcome {
  /** What is wrong with each field. `rest` has what names no field. */
  readonly problems?: Readonly<Record<string, string>>
}

export const noticeOf = (outcome: Outcome): Notice => {
  const action = outcome.sent?.action
  if (typeof action !== 'string' || !isActionName(action)) return outcome
  const problems = problemsOf(outcome, fieldsOf(action))
  return { ...outcome, problems, message: Object.values(problems).join(' ') }
}

const attributes = (given: Readonly<Record<string, string | boolean | undefined>>): HtmlValue =>
  Object.entries(given).map(
    ([name, value]) =>
      value !== undefined && value !== false && html` ${name}="${value === true ? '' : value}"`,
  )

const INPUTS: Readonly<Record<string, string>> = { date: 'date', uri: 'url', 'date-time': 'datetime-local' }

/** Renders a field with its label and its problem, if it has any. */
const fieldOf = ({ name, json, isRequired }: FormField, id: string, shown: string, problem?: string) => {
  const { type, format, enum: choices } = json
  const given = attributes({
    id,
    name,
    required: isRequired,
    'aria-invalid': problem && 'true',
    'aria-describedby': problem && `${id}-problem`,
  })
  const option = (choice: unknown): Html =>
    html`<option${attributes({ value: String(choice), selected: choice === shown })}>${choiceInWords(String(choice))}</option>`
  const more = attributes({
    type: INPUTS[String(format)],
    step: format === 'date-time' && '1',
    inputmode: type === 'number' ? 'decimal' : type === 'integer' && 'numeric',
    placeholder: (name === 'times' || name === 'retries') && '1',
    value: shown,
    autocomplete: 'off',
    list: name.endsWith('msisdn') && 'known-numbers',
  })
  const control = Array.isArray(choices)
    ? html`<select${given}>${!isRequired && html`<option value="">default</option>`}${choices.map(option)}</select>`
    : html`<input${given}${more}>`
  return html`<p class="field"><label for="${id}">${labelOf(name)}</label>${control}${problem && html`<small class="problem" id="${id}-problem">${problem}</small>`}</p>`
}

/** Returns the function that renders the forms of a page. It marks the problems of the form that failed, if any. */
export const createForms =
  (notice?: Notice): RenderForm =>
  (action, label, { given = {}, of = '', first, values = {}, isPrimary } = {}) => {
    const { isDestructive } = actions[action]
    const name = ['form', action, ...Object.entries(given).flat()].join('-')
    const id = name.replace(/[^\w-]/g, (sign) => `_${sign.charCodeAt(0)}`)
    const fixed = Object.entries({ action, ...given })
    const hasFailed = fixed.every(([name, value]) => String(notice?.sent?.[name]) === String(value))
    const { sent, problems = {} } = (hasFailed && notice) || {}
    const all = fieldsOf(action).filter(({ name }) => !(name in given))
    const shown = first?.flatMap((name) => all.filter((field) => field.name === name)) ?? all
    const hidden = first?.length ? all.filter((field) => !shown.includes(field)) : []
    const rest = Object.keys(problems).filter((name) => !all.some((field) => field.name === name))
    const render = (field: FormField): Html => {
      const [outer = '', inner] = field.name.split('.', 2)
      const former = inner === undefined ? sent?.[outer] : Object(sent?.[outer])[inner]
      // Others can read the notice of a failed action, so a secret must be entered again.
      const kept = /secret|headers|otp/.test(field.name) ? undefined : former
      const value = String(kept ?? values[field.name] ?? '')
      return fieldOf(field, `${id}-${field.name.replace('.', '-')}`, value, problems[field.name])
    }
    const open = hidden.some(({ name }) => problems[name] !== undefined)
    const kind = isDestructive ? 'danger' : (isPrimary ?? shown.length > 0) ? 'primary' : 'plain'
    const words = [label, of && visuallyHidden(of)]
    const form = html`<form method="post"${attributes({ id, 'data-failed': hasFailed })}>
${fixed.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${shown.length > 0 && html`<div class="fields">${shown.map(render)}</div>`}
${hidden.length > 0 && html`<details${attributes({ id: `${id}-more`, open })}><summary>More options${visuallyHidden(`of ${label} ${of}`)}</summary><div class="fields">${hidden.map(render)}</div></details>`}
<button type="submit" class="${kind}">${words}</button>
${rest.length > 0 && html`<p class="problem">${rest.map((name) => problems[name])}</p>`}
</form>`
    if (!isDestructive) return form
    return html`<details class="confirm" id="${id}-confirm"><summary class="danger">${words}…</summary>
<p>This cannot be undone.</p>
${form}
</details>`
  }
