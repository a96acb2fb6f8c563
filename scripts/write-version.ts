import { readFile, writeFile } from 'node:fs/promises'

// Writes the version of package.json into the header User-Agent of the clients. `npm run release:version` runs it.

const AGENT = 'src/http/call.ts'
const { version }: { version: string } = JSON.parse(await readFile('package.json', 'utf8'))
const source = await readFile(AGENT, 'utf8')
await writeFile(AGENT, source.replace(/(?<=const VERSION = ')[^']*/, version))
