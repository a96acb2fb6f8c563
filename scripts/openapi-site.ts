import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import scalar from '@scalar/fastify-api-reference'
import fastify from 'fastify'
import { joinDocuments } from '../mocks/server/openapi-document.ts'
import { GATEWAY_API_PREFIX } from '../src/contract/gateway.ts'
import { SUBSCRIPTIONS_API_PREFIX } from '../src/contract/subscriptions.ts'

// Writes the page that shows the OpenAPI documents with Scalar. Everything that the page needs is in the site.

/** The page's address in the site. */
export const OPENAPI_PAGE = 'openapi.html'
const SCRIPT = 'assets/scalar.js'

const document = (area: string, prefix: string) => ({
  document: JSON.parse(readFileSync(new URL(`../openapi/${area}.json`, import.meta.url), 'utf8')),
  standardPrefix: prefix,
  prefix,
})

// The viewer sends nothing: it has no fonts, requests, agent or statistics of others.
const SETTINGS = {
  withDefaultFonts: false,
  hideClientButton: true,
  hideTestRequestButton: true,
  showDeveloperTools: 'never',
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  documentDownloadType: 'json',
  defaultOpenAllTags: true,
}

/** Scalar publishes its viewer as one script only in its server plugins. */
const readViewer = async (): Promise<string> => {
  const server = fastify()
  await server.register(scalar, { routePrefix: '/viewer', configuration: { url: 'document.json' } })
  const { body, statusCode } = await server.inject('/viewer/js/scalar.js')
  await server.close()
  if (statusCode !== 200) throw new Error(`Scalar's script has the status ${statusCode}.`)
  return body
}

/** Writes the page and the viewer to the folder of the site. */
export const writeOpenApiPage = async (folder: string): Promise<void> => {
  const content = joinDocuments(
    [document('subscriptions', SUBSCRIPTIONS_API_PREFIX), document('gateway', GATEWAY_API_PREFIX)],
    'http://127.0.0.1:4010',
  )
  const title = 'OpenAPI | mandatekit'
  // A script in the text of a document would end at its closing tag.
  const settings = JSON.stringify({ ...SETTINGS, content }).replaceAll('<', '\\u003c')
  mkdirSync(join(folder, 'assets'), { recursive: true })
  writeFileSync(join(folder, SCRIPT), await readViewer())
  writeFileSync(
    join(folder, OPENAPI_PAGE),
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
</head>
<body>
<p><a href="index.html">mandatekit</a></p>
<div id="viewer"></div>
<script src="${SCRIPT}"></script>
<script>Scalar.createApiReference('#viewer', ${settings})</script>
</body>
</html>
`,
  )
}

if (import.meta.main) await writeOpenApiPage(fileURLToPath(new URL('../reference', import.meta.url)))
