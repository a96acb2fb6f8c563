// What each folder may import. `npm run lint` checks it; types count like values.
//   npx depcruise --output-type err-long src mocks

const zodCore = 'node_modules/zod/v4/core/'
const ky = 'node_modules/ky/'
const msw = 'node_modules/msw/lib/core/'

const contract = '^src/contract/'
const foundation = '^src/(?:check|clock|errors|json)\\.ts$'
const time = '^mocks/(?:base|time)/'
const areas = '^mocks/(?:gateway|subscriptions)/'
/** The mock as every environment can load it: without MSW, the server and the command line. */
const portableMock = '^mocks/(?!index\\.ts$|server[./]|cli[./])'

/** Files at `from` import nothing but what matches one of `allowed`. */
const only = (name, from, allowed, comment, more = {}) => ({
  name,
  severity: 'error',
  comment,
  from: typeof from === 'string' ? { path: from } : from,
  to: { pathNot: allowed, ...more },
})

export default {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      comment: 'A file that imports itself through others cannot be read, loaded or moved alone.',
      from: {},
      to: { circular: true },
    },
    only(
      'src',
      '^src/',
      ['^src/', ky, zodCore],
      'src runs in browsers and workers and stands on ky and zod’s core alone. It never imports the mock, msw or node: modules, and `zod` itself costs a bundle up to 99 kB.',
    ),
    only(
      'contract',
      contract,
      [contract, zodCore],
      'The contract is pure data: schemas and endpoint definitions. It imports zod’s core and its own files only, so that the clients, the mock and the docs can all hang from it.',
    ),
    only(
      'foundation',
      foundation,
      [foundation, contract, zodCore],
      'The foundation (errors, clock, check, json) stands below every folder of src but the contract: it imports the contract and its own files only.',
    ),
    only(
      'auth',
      '^src/auth/',
      ['^src/auth/', contract, foundation, zodCore],
      'auth imports the contract and the foundation. A token request is a function that it is given: it knows neither http nor a client.',
    ),
    only(
      'http',
      '^src/http/',
      ['^src/http/', '^src/auth/authorizer\\.ts$', contract, foundation, ky, zodCore],
      'http imports the contract, the foundation, ky and the interface of auth. It knows no client and no entry.',
    ),
    only(
      'reconcile',
      '^src/reconcile/',
      ['^src/reconcile/', contract, foundation],
      'reconcile imports the contract and the foundation. Clients are passed to it.',
    ),
    only(
      'notifications',
      '^src/notifications/',
      ['^src/notifications/', '^src/reconcile/', contract, foundation, zodCore],
      'notifications imports the contract, the foundation and reconcile. Clients and stores are passed to it.',
    ),
    only(
      'stores',
      '^src/stores/',
      [
        '^src/stores/',
        '^src/auth/token-(?:store|record)\\.ts$',
        '^src/notifications/dedupe\\.ts$',
        contract,
        foundation,
      ],
      'stores implement the interfaces of auth and notifications. They import those interfaces, the contract and the foundation.',
    ),
    only(
      'mock',
      { path: portableMock, pathNot: [time, areas] },
      [portableMock, contract],
      'The mock shares the contract with the clients and nothing else: no client, transport or ky. Only mocks/index.ts imports msw, and only the server and the command line import node: modules.',
    ),
    only(
      'mock-time',
      time,
      [time, '^src/check\\.ts$', contract, zodCore],
      'What the areas of the mock stand on is pure: time, ids, options. It imports its own files, the contract and the messages of src/check.ts.',
    ),
    only(
      'mock-areas',
      areas.replace('(?:gateway', '(gateway'),
      ['^mocks/$1/', time, contract, zodCore],
      'An area of the mock is pure: facts and questions about them. It imports its own files, time and the contract; no HTTP, no page, no delivery, no other area.',
    ),
    only(
      'mock-http',
      '^mocks/http/',
      ['^mocks/http/', '^mocks/state\\.ts$', areas, time, contract],
      'The pipeline turns a Request into an operation of an area and back: it imports the contract and the areas; no page, no msw, no node: module, no client.',
    ),
    only(
      'mock-delivery',
      '^mocks/delivery/',
      ['^mocks/delivery/', '^mocks/state\\.ts$', areas, time, contract],
      'Deliveries send what the areas say: they import the contract and the areas.',
    ),
    only(
      'mock-pages',
      '^mocks/pages/',
      ['^mocks/(?:pages|http)/', '^mocks/state\\.ts$', areas, time, contract],
      'Pages turn a Request into an operation of an area and back: they import the contract, the areas and mocks/http; no msw, no node: module, no client.',
    ),
    {
      name: 'mock-probe-is-loaded-by-its-commands',
      severity: 'error',
      comment:
        'Probe and compare are loaded only if they are used: the mock imports mocks/probe with import() or as a type, and only their commands import it plainly.',
      from: { path: '^mocks/', pathNot: '^mocks/(?:probe/|cli/(?:probe|compare)\\.ts$)' },
      to: { path: '^mocks/probe/', dependencyTypesNot: ['dynamic-import', 'type-only'] },
    },
    only(
      'mock-for-msw',
      '^mocks/index\\.ts$',
      [portableMock, contract, msw],
      'mandatekit/mocks is for every environment: it imports the mock and `msw`. `msw/node` and the server would break it in jsdom and browsers.',
    ),
    only(
      'mock-server',
      '^mocks/(?:server|cli)[./]',
      ['^mocks/(?!index\\.ts$)', contract, 'node_modules/srvx/', '(?:^|/)openapi/[^/]+\\.json$'],
      'The server and the command line adapt the mock to Node. They import no client and no msw.',
      { dependencyTypesNot: ['core'] },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    skipAnalysisNotInRules: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
}
