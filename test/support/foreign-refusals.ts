import type { Verdict } from '../../src/contract/verdict.ts'

const TIME = '2026-11-28T12:00:00.000+00:00'
const RFC = 'https://tools.ietf.org/html/rfc9110#section-15.5.5'
const html = (title: string) =>
  `<html><head><title>${title}</title></head><body><center><h1>${title}</h1></center><hr></body></html>`
const spring = (fields: object) => ({ timestamp: TIME, path: '/oauth/token', ...fields })
const problem = (type: string, fields: object) => ({ type, title: 'Not Found', status: 404, ...fields })
const oauth = (error: string, description: string) => ({ error, error_description: description })

type Verdicts = readonly [s: Verdict, g: Verdict, login: Verdict]
/** What a refusal proves that is not the API’s own. */
export const FOREIGN: Verdicts = ['somebody-else', 'somebody-else', 'somebody-else']
const REJECTED: Verdicts = ['rejected-credentials', 'rejected-credentials', 'rejected-credentials']
const LIMITED: Verdicts = ['rate-limited', 'rate-limited', 'rate-limited']
// OAuth's own errors mean something at the token endpoint only.
const GRANT: Verdicts = ['somebody-else', 'somebody-else', 'rejected-credentials']
const LOCKED: Verdicts = ['somebody-else', 'somebody-else', 'locked']

/** Servers that answer with a page or a text, by status. */
const PAGES: Readonly<Record<number, string>> = {
  200: 'F5|Imperva',
  302: 'a captive portal',
  400: 'nginx, TLS',
  403: 'AWS load balancer|CloudFront|Azure Application Gateway|Cloudflare|Envoy|HAProxy|Apache|Akamai',
  404: 'Express|Koa|Sinatra|Flask|Go net/http|S3|nginx|Traefik|Caddy|Tomcat|IIS|Heroku|Vercel',
  405: 'Gin|nginx, method',
  406: 'ModSecurity',
  407: 'Squid',
  451: 'a web filter',
  503: 'AWS load balancer, no target|Envoy, no host|Varnish',
}

/** Refusals of proxies, frameworks and OAuth servers, as documented, and what they prove. */
export const FOREIGN_REFUSALS: readonly [string, number, unknown, Verdicts?][] = [
  ['Spring Boot', 404, spring({ status: 404, error: 'Not Found' })],
  ['Spring Security', 403, spring({ status: 403, error: 'Forbidden', message: 'Access Denied' })],
  [
    'Spring problem details',
    404,
    problem('about:blank', { detail: 'No static resource x.', instance: '/x' }),
  ],
  ['Spring Cloud Gateway', 404, spring({ status: 404, error: 'Not Found', requestId: '1a2b-1' })],
  ['Spring, the API’s fields', 404, spring({ errorCode: 'NOT_FOUND', errorMessage: 'No handler found' })],
  ['Micronaut', 404, { message: 'Not Found', _links: {}, _embedded: { errors: [{ message: 'Not Found' }] } }],
  ['Quarkus', 500, { details: 'Error id 4f2b-1', stack: '' }],
  ['Nest, unknown route', 404, { message: 'Cannot POST /oauth/token', error: 'Not Found', statusCode: 404 }],
  ['Nest, bad request', 400, { message: 'Bad Request', statusCode: 400 }],
  ['Nest, guard', 403, { message: 'Forbidden resource', error: 'Forbidden', statusCode: 403 }],
  ['Fastify', 404, { message: 'Route POST:/x not found', error: 'Not Found', statusCode: 404 }],
  ['Fastify, code', 400, { statusCode: 400, code: 'FST_ERR_CTP_EMPTY_JSON_BODY', error: 'Bad Request' }],
  ['Hapi', 404, { statusCode: 404, error: 'Not Found', message: 'Not Found' }],
  ['Laravel', 404, { message: 'The route x could not be found.' }],
  [
    'Laravel, debug',
    405,
    { message: 'The POST method is not supported.', exception: 'x', file: '/app/x.php' },
  ],
  ['Symfony', 404, problem('https://tools.ietf.org/html/rfc2616#section-10', { detail: 'Not Found' })],
  ['Django REST framework', 404, { detail: 'Not found.' }],
  ['Django REST framework, no permission', 403, { detail: 'You do not have permission.' }],
  ['Rails', 404, { status: 404, error: 'Not Found' }],
  ['ASP.NET problem details', 404, problem(RFC, { traceId: '00-4bf9-00' })],
  ['ASP.NET Web API', 404, { Message: 'No HTTP resource was found that matches the request URI.' }],
  ['FastAPI', 404, { detail: 'Not Found' }],
  ['FastAPI, validation', 422, { detail: [{ loc: ['body'], msg: 'field required', type: 'missing' }] }],
  ['Echo', 404, { message: 'Not Found' }],
  ['gRPC gateway', 404, { code: 5, message: 'Not Found', details: [] }],
  ['Phoenix', 404, { errors: { detail: 'Not Found' } }],
  ['JSON:API', 404, { errors: [{ status: '404', code: 'not_found', title: 'Not found' }] }],
  ['Google APIs', 404, { error: { code: 404, message: 'Entity was not found.', status: 'NOT_FOUND' } }],
  ['Kong', 404, { message: 'no Route matched with those values', request_id: '1f0a' }],
  ['Kong, credentials', 401, { message: 'Invalid authentication credentials' }, REJECTED],
  ['Kong, rate limit', 429, { message: 'API rate limit exceeded' }, LIMITED],
  ['Tyk', 403, { error: 'Access to this API has been disallowed' }],
  ['Apigee', 404, { fault: { faultstring: 'Unable to identify proxy', detail: { errorcode: 'http.flow' } } }],
  ['WSO2', 404, { code: '404', type: 'Status report', message: 'Not Found', description: 'Not available.' }],
  ['MuleSoft', 403, { error: 'The client has been blocked by a policy' }],
  ['AWS API Gateway, route', 403, { message: 'Missing Authentication Token' }],
  ['AWS API Gateway, policy', 403, { Message: 'User: anonymous is not authorized to perform: x' }],
  ['Azure API Management', 404, { statusCode: 404, message: 'Resource not found' }],
  ['Azure API Management, key', 401, { statusCode: 401, message: 'Missing subscription key.' }, REJECTED],
  ['Cloudflare, rate limit', 429, 'error code: 1015', LIMITED],
  ['Cloudflare’s API', 403, { success: false, errors: [{ code: 10000, message: 'Authentication error' }] }],
  ['Keycloak, route', 404, { error: 'HTTP 404 Not Found' }],
  ['Keycloak, password', 401, oauth('invalid_grant', 'Invalid user credentials'), REJECTED],
  ['Keycloak, disabled account', 400, oauth('invalid_grant', 'Account disabled'), GRANT],
  ['Auth0, rate limit', 429, oauth('too_many_attempts', 'Your account has been blocked.'), LIMITED],
  ['Auth0, client', 401, oauth('access_denied', 'Unauthorized'), REJECTED],
  ['Auth0, grant', 403, oauth('unauthorized_client', 'Grant type not allowed'), LOCKED],
  ['Spring Authorization Server', 401, { error: 'invalid_client' }, REJECTED],
  ['Spring Authorization Server, grant', 400, { error: 'unsupported_grant_type', error_uri: RFC }],
  [
    'Entra ID',
    400,
    { ...oauth('invalid_grant', 'AADSTS50126'), error_codes: [50126], timestamp: TIME },
    GRANT,
  ],
  ['Okta', 403, { errorCode: 'E0000022', errorSummary: 'The method is not supported', errorId: 'oae' }],
  ['an OAuth server that is overloaded', 503, { error: 'temporarily_unavailable' }],
  ['an OAuth server that is overloaded, with 400', 400, { error: 'temporarily_unavailable' }],
  ['an OAuth server that is broken', 400, { error: 'server_error' }],
  ...Object.entries(PAGES).flatMap(([status, names]) =>
    names
      .split('|')
      .map((name): [string, number, string] => [name, Number(status), html(`${status} ${name}`)]),
  ),
]
