import { keepGenerated } from './generated.ts'
import { readDocstrings } from './openapi/docstrings.ts'
import { documentOf } from './openapi/document.ts'
import { takeTour } from './openapi/tour.ts'

// Writes the OpenAPI documents of both areas, from the contract, its docstrings and a tour of the mock. Without
// --write, it only compares the files with these sources.

const [tour, docstrings] = [await takeTour(), readDocstrings()]
for (const area of ['subscriptions', 'gateway'] as const) {
  keepGenerated(`openapi/${area}.json`, `${JSON.stringify(documentOf(area, tour, docstrings))}\n`, 'openapi')
}
