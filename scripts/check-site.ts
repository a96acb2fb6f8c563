import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

// Walks every page of the built reference site, or of the folder that is passed. The exit code is 1 if a link leads to
// a file or an anchor that does not exist.

const folder = process.argv[2] ?? fileURLToPath(new URL('../reference', import.meta.url))
const root = pathToFileURL(`${folder}/`)

const files = readdirSync(folder, { recursive: true }).map(String)
const pages = files.filter((file) => file.endsWith('.html'))
const textOf = new Map(pages.map((page) => [page, readFileSync(join(folder, page), 'utf8')]))

/** The values of attributes. Pages escape the ampersand in them. */
const attributes = (text: string, names: string): string[] =>
  [...text.matchAll(new RegExp(`<[^>]*?\\s(?:${names})="([^"]*)"`, 'g'))].map(([, value = '']) =>
    value.replaceAll('&amp;', '&'),
  )

const anchorsOf = new Map(pages.map((page) => [page, new Set(attributes(textOf.get(page) ?? '', 'id'))]))

/** Why a link is dead. `undefined` if it is not, or leads to another site. */
const fault = (page: string, link: string): string | undefined => {
  const target = new URL(link, new URL(page, root))
  if (target.protocol !== 'file:') return undefined
  const path = fileURLToPath(new URL(target.pathname, root))
  const name = relative(folder, path)
  if (name.startsWith('..') || !existsSync(path) || !statSync(path).isFile()) return 'no such file'
  const anchor = decodeURIComponent(target.hash.slice(1))
  const anchors = anchorsOf.get(name)
  return anchor === '' || anchors === undefined || anchors.has(anchor) ? undefined : 'no such anchor'
}

let links = 0
for (const page of pages) {
  for (const link of new Set(attributes(textOf.get(page) ?? '', 'href|src'))) {
    links += 1
    const reason = fault(page, link)
    if (reason === undefined) continue
    console.error(`${page}: ${link}: ${reason}`)
    process.exitCode = 1
  }
}
console.log(`${pages.length} pages with ${links} links checked.`)
if (pages.length === 0) process.exitCode = 1
