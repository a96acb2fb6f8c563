import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

// Writes dist/THIRD-PARTY-LICENSES.txt: the license of every package whose code tsup inlined into dist,
// read from esbuild's metafiles, which are removed afterwards.

const dist = 'dist'

interface Metafile {
  outputs: Record<string, { inputs: Record<string, { bytesInOutput: number }> }>
}

function bundledFolders(metafile: Metafile): string[] {
  return Object.values(metafile.outputs)
    .flatMap((output) => Object.entries(output.inputs))
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .flatMap(([input]) => input.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0] ?? [])
}

const metafiles = readdirSync(dist).filter((name) => /^metafile-.*\.json$/.test(name))
const folders = metafiles.flatMap((name) =>
  bundledFolders(JSON.parse(readFileSync(join(dist, name), 'utf8'))),
)

const sections = [...new Set(folders)].sort().map((folder) => {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const licenseFile = readdirSync(folder).find((file) => /^licen[cs]e(\.\w+)?$/i.test(file))
  if (licenseFile === undefined) throw new Error(`${name}@${version} is bundled but has no license file.`)
  const text = readFileSync(join(folder, licenseFile), 'utf8').trim()
  return `${name} ${version} (${license})\n\n${text}\n`
})

const heading = 'The files of this folder contain code of the following packages, under their own licenses.\n'
writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), [heading, ...sections].join(`\n${'-'.repeat(80)}\n\n`))
for (const name of metafiles) rmSync(join(dist, name))
