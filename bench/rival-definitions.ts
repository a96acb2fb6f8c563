/** A mock server that others wrote, with a definition of createCharge as equal as it can express. */
export interface Rival {
  readonly name: string
  /** The package and its exact version. */
  readonly version: string
  /** The program, below the folder of installed packages. */
  readonly program: string
  /** What it is given, by file name. */
  readonly files: Readonly<Record<string, string>>
  readonly options: (port: number) => readonly string[]
}

const PATH = '/api/v1/mfs/charges'

const ANSWER = {
  id: 'ch_0123456789abcdefghjk',
  msisdn: '+99900000001',
  amount: 2500,
  currency: 'BDT',
  status: 'pending_confirmation',
  outcome: 'PENDING',
  confirmation_id: 'conf_0123456789abcdefghjk',
  confirmation_url: 'https://gateway.example/confirm/conf_0123456789abcdefghjk',
  created_at: '2026-12-01T06:00:00.000Z',
}

const text = { type: 'string' }

/** Checks the header and the body, and answers the example. */
const OPEN_API = {
  openapi: '3.0.3',
  info: { title: 'Charges', version: '1.0.0' },
  components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
  paths: {
    [PATH]: {
      post: {
        security: [{ key: [] }],
        parameters: [{ name: 'Idempotency-Key', in: 'header', required: true, schema: text }],
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: {
                type: 'object',
                required: ['msisdn', 'amount', 'currency', 'redirect_uri'],
                properties: {
                  msisdn: text,
                  amount: { type: 'integer' },
                  currency: text,
                  redirect_uri: { type: 'string', format: 'uri' },
                },
              },
            },
          },
        },
        responses: {
          202: {
            description: 'The charge',
            content: { 'application/json': { schema: { type: 'object' }, example: ANSWER } },
          },
        },
      },
    },
  },
}

/** Answers what was sent, under a new id; it can check headers by rules alone, and stores nothing. */
const MOCKOON_ENVIRONMENT = {
  uuid: '0b0f8b0e-1f39-4c59-9a51-000000000001',
  lastMigration: 33,
  name: 'Charges',
  endpointPrefix: '',
  latency: 0,
  port: 3000,
  hostname: '127.0.0.1',
  folders: [],
  routes: [
    {
      uuid: '0b0f8b0e-1f39-4c59-9a51-000000000002',
      type: 'http',
      documentation: '',
      method: 'post',
      endpoint: PATH.slice(1),
      responses: [
        {
          uuid: '0b0f8b0e-1f39-4c59-9a51-000000000003',
          body: JSON.stringify({ ...ANSWER, id: 'ch_{{uuid}}', msisdn: "{{body 'msisdn'}}" }),
          latency: 0,
          statusCode: 202,
          label: '',
          headers: [{ key: 'Content-Type', value: 'application/json' }],
          bodyType: 'INLINE',
          filePath: '',
          databucketID: '',
          sendFileAsBody: false,
          rules: [],
          rulesOperator: 'OR',
          disableTemplating: false,
          fallbackTo404: false,
          default: true,
          crudKey: 'id',
          callbacks: [],
        },
      ],
      responseMode: null,
      streamingMode: null,
      streamingInterval: 0,
    },
  ],
  rootChildren: [{ type: 'route', uuid: '0b0f8b0e-1f39-4c59-9a51-000000000002' }],
  proxyMode: false,
  proxyHost: '',
  proxyRemovePrefix: false,
  tlsOptions: {
    enabled: false,
    type: 'CERT',
    pfxPath: '',
    certPath: '',
    keyPath: '',
    caPath: '',
    passphrase: '',
  },
  cors: false,
  headers: [],
  proxyReqHeaders: [],
  proxyResHeaders: [],
  data: [],
  callbacks: [],
}

const PRISM: Omit<Rival, 'name'> = {
  version: '@stoplight/prism-cli@5.16.0',
  program: '@stoplight/prism-cli/dist/index.js',
  files: { 'charges.openapi.json': JSON.stringify(OPEN_API) },
  options: (port) => ['mock', 'charges.openapi.json', '-h', '127.0.0.1', '-p', `${port}`],
}

/** Each at its quickest: without log files, and in memory where it would write a file. Prism with its log and without. */
export const RIVALS: readonly Rival[] = [
  { ...PRISM, name: 'Prism' },
  { ...PRISM, name: 'Prism without its log', options: (port) => [...PRISM.options(port), '-v', 'silent'] },
  {
    name: 'Mockoon',
    version: '@mockoon/cli@9.9.0',
    program: '@mockoon/cli/bin/run.js',
    files: { 'charges.mockoon.json': JSON.stringify(MOCKOON_ENVIRONMENT) },
    options: (port) => [
      ...['start', '--data', 'charges.mockoon.json', '--hostname', '127.0.0.1', '--port', `${port}`],
      ...['--disable-log-to-file', '--disable-admin-api', '--max-transaction-logs', '1'],
    ],
  },
  {
    name: 'json-server',
    version: 'json-server@0.17.4',
    program: 'json-server/lib/cli/bin.js',
    files: {
      // A program instead of a file of data: then nothing is written to the disk.
      'charges.cjs': 'module.exports = () => ({ charges: [] })',
      'routes.json': JSON.stringify({ [PATH]: '/charges' }),
    },
    options: (port) => [
      ...['charges.cjs', '--routes', 'routes.json', '--host', '127.0.0.1', '--port', `${port}`],
      ...['--quiet', '--no-gzip'],
    ],
  },
]
