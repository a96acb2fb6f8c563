import { readdirSync } from 'node:fs'
import { join } from 'node:path'

// Usage: npm run example 1, or: npm run example fleet
// Runs the example; without a name it lists them.

const folder = join(import.meta.dirname, '../examples')
const examples = readdirSync(folder)
  .filter((name) => /^\d+-.*\.ts$/.test(name))
  .sort()
const [number] = process.argv.slice(2)
const FLEET = 'fleet/start.ts'
const chosen = number === 'fleet' ? FLEET : examples.find((name) => name.startsWith(`${number}-`))

if (chosen === undefined) {
  if (number !== undefined) console.log(`There is no example ${number}.`)
  console.log(['The examples, in the order to read them:', ...examples, FLEET].join('\n'))
  console.log('Run one with its number: npm run example 1. Run the last one with: npm run example fleet')
  process.exitCode = number === undefined ? 0 : 2
} else {
  await import(join(folder, chosen))
}
