import { type Json, jsonOf } from '../../src/contract/fields.ts'
import { type Html, html } from '../pages/html.ts'
import type { SentFields } from './action.ts'
import { type ActionName, actions, type Outcome } from './actions.ts'
import { visuallyHidden } from './components.ts'
import { choiceInWords, KEYS, labelOf, problemsOf } from './words.ts'

/** How a form looks, and what it contains. */
export interface FormOptions {
  /** Fields that the user does not see. */
  readonly given?: Readonly<Record<string, string | number>>
  /** Words after the button's label, for screen readers only. */
  readonly of?: string
  /** The fields that the user sees at once; the others are under "More options". Default: all fields. */
  readonly first?: readonly string[]
  /** The values that the fields have at first. */
  readonly values?: Readonly<Record<string, string>>
  /** True for the main button of a card. Default: true if the user sees a field. */
  readonly isPrimary?: boolean
}

/** Renders the form of an action from the schemas of its fields. */
export type RenderForm = (action: ActionName, label: string, options?: FormOptions) => Html

/** What these actions destroy does not come back, so their buttons are red and ask for a confirmation. */
const DESTRUCTIVE: readonly ActionName[] = [
  'cancel',
  'reverse',
  'disconnect',
  'clear-faults',
  'expire-tokens',
  'revoke-tokens',
  'restore-snapshot',
  'remove-snapshot',
  'reset',
]

type Attributes = Readonly<Record<string, string | undefined>>

const attributes = (given: Attributes): readonly (Html | undefined)[] =>
  Object.entries(given).map(([name, value]) => (value === undefined ? undefined : html` ${name}="${value}"`))

const INPUTS: Readonly<Record<string, string>> = { date: 'date', uri: 'url', 'date-time': 'datetime-local' }

const select = (choices: readonly unknown[], shown: string, isRequired: boolean, given: Attributes): Html =>
  html`<select${attributes(given)}>
${isRequired ? undefined : html`<option value="">default</option>`}
${choices.map((choice) => html`<option value="${String(choice)}"${attributes({ selected: String(choice) === shown ? '' : undefined })}>${choiceInWords(String(choice))}</option>`)}
</select>`

/** A field of a form: its name in the request, its schema, and whether it must be filled. */
interface FormField {
  readonly name: string
  readonly json: Json
  readonly isRequired: boolean
}

/** Returns the fields of a schema. An object has a field for each of its properties, such as `when.msisdn`. */
const fieldsIn = (name: string, json: Json, isRequired: boolean): readonly FormField[] => {
  const properties = Object.entries<Json>(Object(json.properties))
  const keys = properties.length > 0 ? properties.map(([key]) => key) : KEYS[name]
  if (keys === undefined) return [{ name, json, isRequired }]
  return keys.map((key) => ({
    name: `${name}.${key}`,
    json: Object(Object(json.properties)[key] ?? json.additionalProperties),
    isRequired: false,
  }))
}

const control = ({ json, isRequired, ...field }: FormField, id: string, shown: string, problem?: string) => {
  const { type, format, enum: choices } = json
  const given = {
    id,
    name: field.name,
    required: isRequired ? '' : undefined,
    'aria-invalid': problem && 'true',
    'aria-describedby': problem && `${id}-problem`,
  }
  if (Array.isArray(choices)) return select(choices, shown, isRequired, given)
  const isNumber = type === 'number' || type === 'integer'
  const more = {
    type: INPUTS[String(format)],
    step: format === 'date-time' ? '1' : undefined,
    inputmode: isNumber ? 'decimal' : undefined,
    placeholder: field.name === 'times' || field.name === 'retries' ? '1' : undefined,
    value: shown,
    autocomplete: 'off',
    list: field.name.endsWith('msisdn') ? 'test-numbers' : undefined,
  }
  return html`<input${attributes({ ...given, ...more })}>`
}

/** Returns the function that renders the forms of a page. It marks the problems of the form that failed, if any. */
export const createForms = (failed?: Outcome): RenderForm => {
  const isSame = (action: string, given: SentFields): boolean =>
    failed?.ok === false &&
    failed.sent?.action === action &&
    Object.entries(given).every(([name, value]) => String(failed.sent?.[name]) === String(value))

  return (action, label, { given = {}, of = '', first, values = {}, isPrimary } = {}) => {
    const id = ['form', action, ...Object.values(given)].join('-').replace(/[^\w-]+/g, '_')
    const { fields } = actions[action]
    const all = Object.entries(fields).flatMap(([name, schema]) =>
      name in given ? [] : fieldsIn(name, jsonOf(schema), schema._zod.optin === undefined),
    )
    const isShown = ({ name }: FormField): boolean => first?.includes(name) ?? true
    const shown =
      first === undefined ? all : first.flatMap((name) => all.filter((field) => field.name === name))
    const sent = isSame(action, given) ? failed?.sent : undefined
    const { rest = '', ...problems } = sent && failed ? problemsOf(failed.message, all) : {}
    const one = (field: FormField): Html => {
      const [outer = '', inner] = field.name.split('.', 2)
      const former = inner === undefined ? sent?.[outer] : Object(sent?.[outer])[inner]
      const problem = problems[field.name]
      const own = `${id}-${field.name.replace('.', '-')}`
      return html`<p class="field"><label for="${own}">${labelOf(field.name)}</label>${control(field, own, String(former ?? values[field.name] ?? ''), problem)}${problem && html`<small class="problem" id="${own}-problem">${problem}</small>`}</p>`
    }
    const hidden = all.filter((field) => !isShown(field))
    const more = (): Html =>
      html`<details id="${id}-more"${attributes({ open: hidden.some(({ name }) => problems[name]) ? '' : undefined })}><summary>More options${visuallyHidden(`of ${label} ${of}`)}</summary><div class="fields">${hidden.map(one)}</div></details>`
    const isDestructive = DESTRUCTIVE.includes(action)
    const kind = isDestructive ? 'danger' : (isPrimary ?? shown.length > 0) ? 'primary' : 'plain'
    const button = html`<button type="submit" class="${kind}">${label}${of && visuallyHidden(of)}</button>`
    const form = html`<form method="post" id="${id}"${attributes({ 'data-failed': sent && '' })}>
${Object.entries({ action, ...given }).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${shown.length > 0 ? html`<div class="fields">${shown.map(one)}</div>` : undefined}
${hidden.length > 0 && first !== undefined && first.length > 0 ? more() : undefined}
${rest && html`<p class="problem">${rest}</p>`}
${button}
</form>`
    if (!isDestructive) return form
    return html`<details class="confirm" id="${id}-confirm"><summary class="danger">${label}${of && visuallyHidden(of)}…</summary>
<p>${actions[action].description}</p>
${form}
</details>`
  }
}
