import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { serveFetch } from '../support/serve-fetch.ts'

const { resolve } = createRequire(import.meta.url)

const repository = fileURLToPath(new URL('../..', import.meta.url))

/** Bundles a page's module as an application's bundler does, with this version of MSW in it. */
const bundle = async (file: string, msw: string): Promise<string> => {
  const { outputFiles } = await build({
    absWorkingDir: repository,
    entryPoints: [fileURLToPath(new URL(file, import.meta.url))],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    logLevel: 'error',
    tsconfig: `${repository}tsconfig.json`,
    ...(msw !== 'msw' && { alias: { msw } }),
  })
  return outputFiles[0]?.text ?? ''
}

const PAGE = '<!doctype html><title>Shop</title><script type="module" src="/page.js"></script>'

/** Serves a page, its module and MSW's service worker. */
export const serveBundle = async (file: string, msw: string) => {
  const script = await bundle(file, msw)
  const worker = await readFile(resolve(`${msw}/mockServiceWorker.js`), 'utf8')
  const answers: Record<string, readonly [type: string, text: string]> = {
    '/': ['text/html', PAGE],
    '/page.js': ['text/javascript', script],
    '/mockServiceWorker.js': ['text/javascript', worker],
    '/prices.txt': ['text/plain', 'ten a month'],
  }
  return serveFetch(async (request) => {
    const [type, text] = answers[new URL(request.url).pathname] ?? []
    if (type === undefined) return new Response(null, { status: 404 })
    return new Response(text, { headers: { 'content-type': type } })
  })
}
