import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { repository } from '../package/project.ts'

/** A fenced block of TypeScript in a document. */
export interface Snippet {
  /** Document and line, for example `docs/errors.md:32`. */
  readonly place: string
  /** A file name that says the place, for example `docs-errors-line-32.ts`. */
  readonly file: string
  readonly text: string
  /** Whether it is a test for vitest; any other snippet is a program. */
  readonly isTest: boolean
  /** What its `console.log(…) // like this` comments promise, line by line. */
  readonly promises: readonly string[]
}

/** The paths of README.md, CONTRIBUTING.md and every document under docs/, relative to the repository. */
export async function documents(): Promise<string[]> {
  const under = await readdir(join(repository, 'docs'), { recursive: true })
  const guides = under.filter((path) => path.endsWith('.md')).map((path) => `docs/${path}`)
  return ['README.md', 'CONTRIBUTING.md', ...guides.sort()]
}

/** The text of a document. */
export const readDocument = (path: string): Promise<string> => readFile(join(repository, path), 'utf8')

/** The blocks of a document that begin with their file's name, such as `// shop.ts`: text by name. */
export const filesIn = (text: string): Map<string, string> =>
  new Map(
    [...text.matchAll(/^```\w+\n(?:\/\/|#) (\S*\.\w+)\n(.*?)^```$/gms)].map(([, name = '', code = '']) => [
      name,
      code,
    ]),
  )

/** The ```ts blocks of a document, in order, without those of `filesIn`. */
function snippetsOf(document: string, text: string): Snippet[] {
  return [...text.matchAll(/^```ts\n(?!\/\/ \S*\.\w+\n)(.*?)^```$/gms)].map(({ 1: code = '', index }) => {
    const line = text.slice(0, index).split('\n').length
    const isTest = /from 'vitest'/.test(code)
    const name = document.replace(/\.md$/, '').replaceAll('/', '-')
    const promises = [...code.matchAll(/^\s*console\.log\(.*\) \/\/ (.+)$/gm)].map(
      ([, promise = '']) => promise,
    )
    return {
      place: `${document}:${line}`,
      file: `${name}-line-${line}${isTest ? '.test' : ''}.ts`,
      text: code,
      isTest,
      promises,
    }
  })
}

/** Every ```ts block of every document. */
export async function allSnippets(): Promise<Snippet[]> {
  const found = (await documents()).map(async (path) => snippetsOf(path, await readDocument(path)))
  return (await Promise.all(found)).flat()
}
