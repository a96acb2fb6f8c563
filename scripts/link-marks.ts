import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { linkMarks, linkTo } from './marks.ts'

// Turns the marks in the docstrings of the built declarations into links, which editors show in hovers.

const toSource = (docstring: string): string =>
  linkMarks(docstring, ({ page, anchor }) => linkTo(page, anchor))

for (const file of globSync('dist/**/*.d.{ts,cts}')) {
  const declarations = readFileSync(file, 'utf8')
  writeFileSync(file, declarations.replace(/\/\*\*.*?\*\//gs, toSource))
}
