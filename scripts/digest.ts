import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

// Writes llms.txt: README.md and the guides of docs/ in one file, for readers with a small context. Without --write, it
// only compares the file with its sources.

const root = new URL('../', import.meta.url)
const file = new URL('llms.txt', root)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')

// The guides that a newcomer needs come first. The others follow in the order of their names.
const order = [
  'subscriptions.md',
  'charges.md',
  'retries-and-outcomes.md',
  'errors.md',
  'tokens.md',
  'notifications.md',
  'queues.md',
  'testing.md',
  'mock.md',
]

// Reference pages are too long for this file. Of the guides, environments.md and server.md are for one set-up each, and
// faq.md repeats the others.
const omitted = [
  'specification.md',
  'options.md',
  'unknowns.md',
  'state-machines.md',
  'environments.md',
  'server.md',
  'faq.md',
]

// Pages for contributors, which the package does not contain.
const notPacked = ['benchmarks.md']

function guides(): string[] {
  const all = readdirSync(new URL('docs/', root)).filter((name) => name.endsWith('.md'))
  const found = all.filter((name) => ![...omitted, ...notPacked].includes(name))
  const place = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length)
  return found.sort((a, b) => place(a) - place(b) || a.localeCompare(b)).map((name) => `docs/${name}`)
}

/**
 * A document without the parts that do not help here: diagrams, comments, pictures, links between the documents, and the
 * README's list of guides and its last sections.
 */
function digest(path: string): string {
  const text = read(path)
    .replace(/<!--.*?-->\n*/gs, '')
    .replace(/^## (?:Guides\n.*?(?=^## )|Work on it\n.*)/gms, '')
    .replace(/^```mermaid\n.*?^```\n*/gms, '')
    .replace(/!\[[^\]]*\]\([^)]*\)\s*/g, '')
    .replace(/\[([^\]]+)\]\((?!https?:)[^)]*\)/g, '$1')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
  return `<!-- ${path} -->\n\n${text}\n`
}

const more = `Not in this file: ${omitted.map((name) => `docs/${name}`).join(', ')}.\n`
const content = [...['README.md', ...guides()].map(digest), more].join('\n')

if (process.argv.includes('--write')) {
  writeFileSync(file, content)
} else if (readFileSync(file, 'utf8') !== content) {
  console.error('llms.txt differs from README.md and docs/. Run `npm run digest`.')
  process.exitCode = 1
}
