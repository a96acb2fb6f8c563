import { readdirSync, readFileSync } from 'node:fs'
import { keepGenerated } from './generated.ts'

// Writes llms.txt: README.md and the guides that most programs need in one file, for readers with a small context.
// Without --write, it only compares the file with its sources.

const root = new URL('../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')

// README.md and the guide contain a test, and tokens need no code. So the pages about them are only named.
const included = [
  'README.md',
  'docs/shop.md',
  'docs/subscriptions.md',
  'docs/charges.md',
  'docs/retries-and-outcomes.md',
  'docs/errors.md',
  'docs/notifications.md',
  'docs/mock.md',
]

// The package does not contain this page, because it is for contributors.
const notPacked = 'docs/benchmarks.md'

// Sections that the included guides repeat, that only people need, or that tell details.
const repeated = [
  'A first subscription',
  'A first charge',
  'A first test',
  'When a call fails',
  'Guides',
  'Notifications in other frameworks',
  'A `pending_retry` that does not end',
  'What an error contains',
  'What a response proves',
  'Hooks',
  'Invented notifications',
  'All payments',
  'The raw body',
  'Order',
  'In a queue',
  'Lost notifications',
  'A control panel of your own',
  'Work on it',
  'License',
]

/** A document without diagrams, comments, pictures, links between the documents, and the sections in `repeated`. */
function digest(path: string): string {
  const text = read(path)
    .replace(/<!--.*?-->\n*/gs, '')
    .split(/^(?=## )/m)
    .filter((section) => !repeated.some((title) => section.startsWith(`## ${title}\n`)))
    .join('')
    .replace(/^```mermaid\n.*?^```\n*/gms, '')
    .replace(/!\[[^\]]*\]\([^)]*\)\s*/g, '')
    .replace(/\[([^\]]+)\]\((?!https?:)[^)]*\)/g, '$1')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
  return `<!-- ${path} -->\n\n${text}\n`
}

// The other pages are references. Each is named with its title.
const others = readdirSync(new URL('docs/', root))
  .map((name) => `docs/${name}`)
  .filter((path) => path.endsWith('.md') && ![...included, notPacked].includes(path))
  .map((path) => `- ${path}: ${/^# (.+)$/m.exec(read(path))?.[1]}\n`)
const content = [...included.map(digest), `## Not in this file\n\n${others.join('')}`].join('\n')
keepGenerated('llms.txt', content, 'digest')
