import { existsSync, readFileSync } from 'node:fs'
import type { Command, Row, Workspace } from './workspace.ts'

const manifest: {
  dependencies: Record<string, string>
  peerDependencies: { msw: string }
} = JSON.parse(readFileSync(new URL('../../test/matrix/package.json', import.meta.url), 'utf8'))

const SMOKE = 'a subscription and a charge'
const SCRIPTS = ['load.mjs', 'once.mjs', 'cases.mjs', 'run-cases.mjs']

/** The pinned version of a tool, without the alias in front of it. */
const versionOf = (tool: string): string => (manifest.dependencies[tool] ?? '').replace(/^.*@/, '')

/** Every environment that the package must work in. */
export function matrixRows(workspace: Workspace): Row[] {
  const node = workspace.tool('node24/bin/node')
  return [
    ...onNode(workspace),
    ...otherRuntimes(workspace, node),
    ...bundlers(node),
    command(),
    ...compilers(workspace, node),
    ...testRunners(workspace, node),
    ...mswVersions(workspace, node),
  ]
}

function onNode(workspace: Workspace): Row[] {
  return ['node20', 'node22', 'node24', 'node26'].flatMap((tool) => {
    const node = workspace.tool(`${tool}/bin/node`)
    const name = `Node ${versionOf(tool)}`
    return [
      {
        name: `${name}, import`,
        files: SCRIPTS,
        commands: ['once.mjs', 'run-cases.mjs', 'load.mjs'].map((file) => [node, file]),
        prints: SMOKE,
      },
      {
        name: `${name}, require`,
        type: 'commonjs',
        files: ['load.cjs'],
        commands: [[node, 'load.cjs']],
        prints: SMOKE,
      },
    ] satisfies Row[]
  })
}

function otherRuntimes(workspace: Workspace, node: string): Row[] {
  const bundleForWorkers: Command = [
    workspace.tool('esbuild/bin/esbuild'),
    'worker.mjs',
    '--bundle',
    '--format=esm',
    '--conditions=workerd,worker,browser',
    '--outfile=worker.bundle.js',
  ]
  const bun = (tool: string) => workspace.tool(`${tool}/bin/bun.exe`)
  const deno = (tool: string) =>
    [node, workspace.tool(`${tool}/bin.cjs`), 'run', '--node-modules-dir=manual', '--no-remote'] as const
  // The newest, and the oldest that is supported.
  const others = [
    ...['bun', 'bun13'].map((tool) => ({
      name: `Bun ${versionOf(tool)}`,
      files: SCRIPTS,
      commands: ['once.mjs', 'run-cases.mjs', 'load.mjs'].map((file): Command => [bun(tool), 'run', file]),
      prints: SMOKE,
    })),
    ...['deno', 'deno20'].map((tool) => ({
      name: `Deno ${versionOf(tool)}`,
      files: SCRIPTS,
      commands: [
        [...deno(tool), '--allow-net=127.0.0.1', 'once.mjs'],
        [...deno(tool), '--allow-net=127.0.0.1', 'run-cases.mjs'],
        [...deno(tool), 'load.mjs'],
      ] satisfies Command[],
      prints: SMOKE,
    })),
  ]
  return [
    ...others,
    {
      name: `workerd ${versionOf('workerd')}`,
      files: ['worker.mjs', 'cases.mjs', 'workerd.capnp'],
      commands: [bundleForWorkers, [workspace.tool('.bin/workerd'), 'test', 'workerd.capnp']],
    },
    {
      name: `Chromium through Vite ${versionOf('vite')}`,
      files: ['browser.mjs', 'index.html', 'chromium-vite.mjs'],
      commands: [[node, 'chromium-vite.mjs', chromium()]],
      prints: SMOKE,
    },
  ]
}

/** Where the system's Chromium is. */
function chromium(): string {
  const places = [
    '/usr/bin/chromium-headless-shell',
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
  ]
  return places.find((place) => existsSync(place)) ?? 'chromium'
}

function bundlers(node: string): Row[] {
  return ['esbuild', 'rollup', 'webpack'].map((tool) => ({
    name: `bundle of ${tool} ${versionOf(tool)}`,
    files: ['load.mjs', `bundle-${tool}.mjs`],
    commands: [
      [node, `bundle-${tool}.mjs`],
      [node, 'bundle.mjs'],
    ],
    prints: SMOKE,
  }))
}

/** The command, as `npx mandatekit` runs it. */
function command(): Row {
  return {
    name: 'the command mandatekit',
    files: [],
    commands: [['node_modules/.bin/mandatekit', '--help']],
    prints: 'Usage: mandatekit mock',
  }
}

function compilers(workspace: Workspace, node: string): Row[] {
  const strictest = {
    target: 'es2022',
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: true,
  }
  const browser = { lib: ['es2023', 'dom', 'dom.iterable'], types: [] }
  const server = { lib: ['es2023'], types: ['node'] }
  const project = (compilerOptions: object, files: string[]): string =>
    JSON.stringify({ compilerOptions: { ...strictest, ...compilerOptions }, files })
  const [oldestMsw, , newestMsw] = manifest.peerDependencies.msw.split(' || ')
  const others =
    "export * as contract from 'mandatekit/contract'\nexport * as mocks from 'mandatekit/mocks'\n"
  const classic: Row = {
    name: `TypeScript ${versionOf('typescript59')}, CommonJS with node10`,
    type: 'commonjs',
    files: ['entries.ts'],
    made: {
      'others.ts': others,
      'tsconfig.json': project(
        // MSW's own declarations need not hold here.
        { ...browser, module: 'commonjs', moduleResolution: 'node10', noEmit: false, skipLibCheck: true },
        ['entries.ts', 'others.ts'],
      ),
    },
    install: [`msw@${newestMsw}`],
    commands: [
      [node, workspace.tool('typescript59/bin/tsc'), '-p', '.'],
      [node, '--require', './entries.js', '--print', "Object.keys(require('./others.js').mocks)"],
    ],
    prints: 'createMock',
  }
  const rows = ['typescript52', 'typescript55', 'typescript59', 'typescript6', 'typescript7'].flatMap(
    (tool) => {
      const compile = (configuration: string): Command => [
        node,
        workspace.tool(`${tool}/bin/tsc`),
        '-p',
        configuration,
      ]
      return [
        { name: 'nodenext', options: { module: 'nodenext' }, extensions: ['ts', 'cts'] },
        { name: 'bundler', options: { module: 'esnext', moduleResolution: 'bundler' }, extensions: ['ts'] },
      ].map(({ name, options, extensions }): Row => {
        const entries = extensions.map((extension) => `entries.${extension}`)
        const all = [...entries, ...extensions.map((extension) => `others.${extension}`)]
        return {
          name: `TypeScript ${versionOf(tool)}, ${name}`,
          files: ['entries.ts', ['entries.cts', 'entries.ts']],
          made: {
            'others.ts': others,
            'others.cts': others,
            // The declarations of MSW need those of the DOM.
            'browser.json': project({ ...options, ...browser }, all),
            'server.json': project({ ...options, ...server }, entries),
          },
          // An older TypeScript does not let CommonJS load MSW 3, which has ES modules only.
          install: [`msw@${oldestMsw}`],
          commands: [compile('browser.json'), compile('server.json')],
        }
      })
    },
  )
  return [classic, ...rows]
}

function testRunners(workspace: Workspace, node: string): Row[] {
  return [
    {
      name: `Jest ${versionOf('jest')}, CommonJS`,
      type: 'commonjs',
      files: ['jest.test.cjs'],
      commands: [
        [
          node,
          workspace.tool('jest/bin/jest.js'),
          '--watchman=false',
          `--cacheDirectory=${workspace.cache}/jest`,
        ],
      ],
      prints: '1 passed',
    },
    {
      name: `Vitest ${versionOf('vitest')}`,
      files: ['vitest.test.mjs'],
      commands: [[node, workspace.tool('vitest/vitest.mjs'), 'run', '--root', '.']],
      prints: '1 passed',
    },
    {
      name: `node:test of Node ${versionOf('node24')}`,
      files: ['node.test.mjs'],
      commands: [[node, '--test', 'node.test.mjs']],
      prints: 'pass 1',
    },
    {
      name: `bun test of Bun ${versionOf('bun')}`,
      files: ['bun.test.mjs'],
      commands: [[workspace.tool('bun/bin/bun.exe'), 'test', './bun.test.mjs']],
      prints: '1 pass',
    },
  ]
}

function mswVersions(workspace: Workspace, node: string): Row[] {
  const configuration = {
    compilerOptions: {
      target: 'es2023',
      lib: ['es2023', 'dom', 'dom.iterable'],
      module: 'nodenext',
      types: [],
      strict: true,
      exactOptionalPropertyTypes: true,
      // MSW's own declarations need not hold here.
      skipLibCheck: true,
      noEmit: true,
    },
    files: ['handlers.ts'],
  }
  return manifest.peerDependencies.msw.split(' || ').map((version) => ({
    name: `MSW ${version}, with types`,
    files: ['msw.mjs', 'handlers.ts'],
    made: { 'tsconfig.json': JSON.stringify(configuration) },
    install: [`msw@${version}`],
    commands: [
      [node, workspace.tool('typescript6/bin/tsc'), '-p', '.'],
      [node, 'msw.mjs'],
    ],
    prints: SMOKE,
  }))
}
