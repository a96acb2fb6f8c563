import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

// llms.txt: README.md and the guides of docs/ in one file, for readers with little room. Without a flag this compares
// the file with its sources; with --write it makes it so.

const root = new URL('../', import.meta.url)
const file = new URL('llms.txt', root)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')

// First the guides that a newcomer needs. The others follow in the order of their names.
const order = [
  'retries-and-outcomes.md',
  'errors.md',
  'tokens.md',
  'notifications.md',
  'testing.md',
  'mock.md',
]

// Reference pages, which are too long for this file.
const leftOut = ['options.md', 'unknowns.md', 'state-machines.md', 'benchmarks.md']

function guides(): string[] {
  const all = readdirSync(new URL('docs/', root)).filter((name) => name.endsWith('.md'))
  const found = all.filter((name) => !leftOut.includes(name))
  const place = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length)
  return found.sort((a, b) => place(a) - place(b) || a.localeCompare(b)).map((name) => `docs/${name}`)
}

/**
 * A document without the parts that are useless here: diagrams, comments, pictures, links between the documents, and the
 * README's tables of guides and of other packages.
 */
function digest(path: string): string {
  const text = read(path)
    .replace(/<!--.*?-->\n*/gs, '')
    .replace(/^## (?:Find your way|How it compares)\n.*?(?=^## )/gms, '')
    .replace(/^```mermaid\n.*?^```\n*/gms, '')
    .replace(/!\[[^\]]*\]\([^)]*\)\s*/g, '')
    .replace(/\[([^\]]+)\]\((?!https?:)[^)]*\)/g, '$1')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
  return `<!-- ${path} -->\n\n${text}\n`
}

const more = `Left out here: ${leftOut.map((name) => `docs/${name}`).join(', ')}, and docs/decisions.\n`
const content = [...['README.md', ...guides()].map(digest), more].join('\n')

if (process.argv.includes('--write')) {
  writeFileSync(file, content)
} else if (readFileSync(file, 'utf8') !== content) {
  console.error('llms.txt differs from README.md and docs/. Run `npm run digest`.')
  process.exitCode = 1
}
