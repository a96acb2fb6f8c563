import type { Area } from '../../src/contract/endpoint.ts'
import { isObject, type Json } from '../../src/contract/fields.ts'
import { type AskerParts, createAsker } from './asker.ts'
import { gatewayQuestions } from './gateway-questions.ts'
import {
  type Answer,
  type Level,
  levels,
  type ProbeArea,
  type Question,
  questionId,
  Stopped,
  Unanswered,
} from './question.ts'
import { subscriptionsQuestions } from './subscriptions-questions.ts'

/** All questions, the least harmful first. */
export const questions: readonly Question[] = levels.flatMap((level) =>
  [...subscriptionsQuestions, ...gatewayQuestions].filter((question) => question.level === level),
)

/** The configuration of a probe: the areas to ask. */
export type ProbeConfig = { readonly [Name in Area]?: ProbeArea }

/** A question with its answer. There is no answer if the probe stopped asking the area before. */
export interface Asked {
  readonly question: Question
  readonly answer?: Answer
}

/** The result of a run. */
export interface ProbeResult {
  readonly asked: readonly Asked[]
  /** For each area that was not asked all questions: the reason. */
  readonly stopped: { readonly [Name in Area]?: string }
  /** The options that make the mock behave like the server, as JSON. */
  readonly options: Json
}

const merged = (one: Json, other: Json): Json => ({
  ...one,
  ...Object.fromEntries(
    Object.entries(other).map(([name, value]) => {
      const before = one[name]
      return [
        name,
        name === 'errorCodes' && isObject(before) && isObject(value) ? { ...before, ...value } : value,
      ]
    }),
  ),
})

/** Returns the options that the answers set. */
const optionsOf = (asked: readonly Asked[]): Json => {
  const options: Record<string, Json> = {}
  for (const { question, answer } of asked) {
    if (answer === undefined || !('found' in answer) || Object.keys(answer.found).length === 0) continue
    options[question.area] = merged(options[question.area] ?? {}, answer.found)
  }
  return options
}

const lacking = (question: Question, area: ProbeArea): Answer | undefined => {
  const missing = question.needs.find((name) => area[name] === undefined)
  return missing === undefined ? undefined : { unknown: `${question.area}.${missing} is not configured` }
}

/** Asks one question. `isFinal` is false if a later run may find the answer. */
const askOne = async (question: Question, ask: Parameters<Question['ask']>[0]) => {
  try {
    return { answer: await question.ask(ask), isFinal: true }
  } catch (error) {
    if (!(error instanceof Unanswered)) throw error
    return { answer: { unknown: error.message }, isFinal: !error.isTemporary }
  }
}

/**
 * Asks a server the questions of the allowed levels, one after the other. Skips questions that the session has
 * answered. If one area has to be stopped, continues with the other area.
 *
 * @param progress called before each question
 */
export const probe = async (
  config: ProbeConfig,
  allowed: readonly Level[],
  parts: AskerParts,
  progress: (question: Question, number: number, count: number) => void = () => undefined,
): Promise<ProbeResult> => {
  const { session, redactor, clock, budget } = parts
  const spent = { requests: 0, endsAt: clock.now() + budget.seconds * 1_000 }
  const stopped: { [Name in Area]?: string } = {}
  const askers: { [Name in Area]?: ReturnType<typeof createAsker> } = {}
  const chosen = questions.filter(({ level, area }) => allowed.includes(level) && config[area] !== undefined)
  const asked: Asked[] = []

  for (const [index, question] of chosen.entries()) {
    const { area } = question
    const areaConfig = config[area]
    if (areaConfig === undefined) continue
    const id = questionId(question)
    let answer = session.answerTo(id) ?? lacking(question, areaConfig)
    if (answer === undefined && stopped[area] === undefined) {
      progress(question, index + 1, chosen.length)
      askers[area] ??= createAsker(area, areaConfig, parts, spent)
      try {
        const result = await askOne(question, askers[area](id))
        answer = result.answer
        if (result.isFinal) session.add({ question: id, answer })
      } catch (error) {
        if (!(error instanceof Stopped)) throw error
        stopped[area] = redactor.text(error.message)
      }
    }
    asked.push({ question, ...(answer && { answer }) })
  }
  return { asked, stopped, options: optionsOf(asked) }
}
