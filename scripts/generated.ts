import { existsSync, readFileSync, writeFileSync } from 'node:fs'

/**
 * Keeps a checked-in file equal to what is generated from its sources. With `--write`, the file is written. Without, it
 * is compared, and the exit code is 1 if it differs. `command` is the npm script that writes it.
 */
export function keepGenerated(path: string, text: string, command: string): void {
  const file = new URL(`../${path}`, import.meta.url)
  if (process.argv.includes('--write')) {
    writeFileSync(file, text)
  } else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    console.error(`${path} differs from its sources. Run \`npm run ${command}\`.`)
    process.exitCode = 1
  }
}
