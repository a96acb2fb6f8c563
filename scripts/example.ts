import { readdirSync } from 'node:fs'
import { join } from 'node:path'

// Usage: npm run example 1
// Runs the numbered example; without a number it lists them.

const folder = join(import.meta.dirname, '../examples')
const examples = readdirSync(folder)
  .filter((name) => /^\d+-.*\.ts$/.test(name))
  .sort()
const [number] = process.argv.slice(2)
const chosen = examples.find((name) => name.startsWith(`${number}-`))

if (chosen === undefined) {
  if (number !== undefined) console.log(`There is no example ${number}.`)
  console.log(['The examples, in the order to read them:', ...examples].join('\n'))
  console.log('Run one with its number: npm run example 1')
  process.exitCode = number === undefined ? 0 : 2
} else {
  await import(join(folder, chosen))
}
