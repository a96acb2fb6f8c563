import type { Verdict } from '../../src/contract/verdict.ts'

const html = (title: string, rest = '') =>
  `<html><head><title>${title}</title></head><body><center><h1>${title}</h1></center>${rest}</body></html>`
const TIME = '2026-11-28T12:00:00.000+00:00'
const RFC = 'https://tools.ietf.org/html/rfc9110#section-15.5.5'
type Verdicts = readonly [s: Verdict, g: Verdict, login: Verdict]
/** What a refusal proves that is not the API’s own. */
export const FOREIGN: Verdicts = ['somebody-else', 'somebody-else', 'somebody-else']
const REJECTED: Verdicts = ['rejected-credentials', 'rejected-credentials', 'rejected-credentials']
const LIMITED: Verdicts = ['rate-limited', 'rate-limited', 'rate-limited']
/** OAuth's own errors mean something at the token endpoint only. */
const oauth = (login: Verdict): Verdicts => ['somebody-else', 'somebody-else', login]

/** Refusals of proxies, frameworks and OAuth servers, as their documentation shows them, and what they prove. */
export const FOREIGN_REFUSALS: readonly [string, number, unknown, Verdicts?][] = [
  ['Spring Boot', 404, { timestamp: TIME, status: 404, error: 'Not Found', path: '/oauth/token' }],
  [
    'Spring Security',
    403,
    { timestamp: TIME, status: 403, error: 'Forbidden', message: 'Access Denied', path: '/x' },
  ],
  [
    'a Spring handler with the API’s fields',
    404,
    { timestamp: TIME, path: '/x', errorCode: 'NOT_FOUND', errorMessage: 'No handler found' },
  ],
  ['Nest, unknown route', 404, { message: 'Cannot POST /oauth/token', error: 'Not Found', statusCode: 404 }],
  ['Fastify', 404, { message: 'Route POST:/x not found', error: 'Not Found', statusCode: 404 }],
  [
    'Express',
    404,
    '<!DOCTYPE html><html lang="en"><head><title>Error</title></head><body><pre>Cannot POST /x</pre></body></html>',
  ],
  ['ASP.NET problem details', 404, { type: RFC, title: 'Not Found', status: 404, traceId: '00-4bf9-00' }],
  ['FastAPI', 404, { detail: 'Not Found' }],
  ['Gin', 405, '405 method not allowed'],
  ['gRPC gateway', 404, { code: 5, message: 'Not Found', details: [] }],
  ['JSON:API', 404, { errors: [{ status: '404', code: 'not_found', title: 'Not found' }] }],
  [
    'Google APIs',
    404,
    { error: { code: 404, message: 'Requested entity was not found.', status: 'NOT_FOUND' } },
  ],
  ['Kong, credentials', 401, { message: 'Invalid authentication credentials' }, REJECTED],
  ['Kong, rate limit', 429, { message: 'API rate limit exceeded' }, LIMITED],
  [
    'Apigee',
    404,
    {
      fault: {
        faultstring: 'Unable to identify proxy for host',
        detail: { errorcode: 'messaging.adaptors.http.flow.ApplicationNotFound' },
      },
    },
  ],
  ['AWS load balancer, no target', 503, html('503 Service Temporarily Unavailable')],
  ['Cloudflare', 403, html('Attention Required! | Cloudflare', 'Sorry, you have been blocked')],
  ['Cloudflare, rate limit', 429, 'error code: 1015', LIMITED],
  ['nginx', 404, html('404 Not Found', '<hr><center>nginx</center>')],
  ['nginx, TLS', 400, html('400 The plain HTTP request was sent to HTTPS port')],
  ['Squid', 407, html('ERROR: Cache Access Denied')],
  ['Caddy', 404, ''],
  ['F5', 200, html('Request Rejected', 'The requested URL was rejected. Your support ID is: 4711')],
  ['a captive portal', 302, ''],
  ['a web filter', 451, html('Web Page Blocked')],
  [
    'Keycloak, password',
    401,
    { error: 'invalid_grant', error_description: 'Invalid user credentials' },
    REJECTED,
  ],
  [
    'Keycloak, disabled account',
    400,
    { error: 'invalid_grant', error_description: 'Account disabled' },
    oauth('rejected-credentials'),
  ],
  [
    'Auth0, rate limit',
    429,
    { error: 'too_many_attempts', error_description: 'Your account has been blocked.' },
    LIMITED,
  ],
  ['Auth0, client', 401, { error: 'access_denied', error_description: 'Unauthorized' }, REJECTED],
  [
    'Auth0, grant',
    403,
    { error: 'unauthorized_client', error_description: 'Grant type not allowed' },
    oauth('locked'),
  ],
  ['Spring Authorization Server, grant', 400, { error: 'unsupported_grant_type', error_uri: RFC }],
  [
    'Entra ID',
    400,
    {
      error: 'invalid_grant',
      error_description: 'AADSTS50126',
      error_codes: [50126],
      timestamp: TIME,
      trace_id: 'a',
    },
    oauth('rejected-credentials'),
  ],
  [
    'Okta',
    403,
    {
      errorCode: 'E0000022',
      errorSummary: 'The endpoint does not support the provided HTTP method',
      errorId: 'oae',
    },
  ],
  ['an OAuth server that is overloaded, with 400', 400, { error: 'temporarily_unavailable' }],
  ['an OAuth server that is broken', 400, { error: 'server_error' }],
]
