import { internalsOf } from '../assemble.ts'
import { behaviors, testNumbers } from '../gateway/behaviors.ts'
import { gatewayDefaults } from '../gateway/options.ts'
import { html } from '../pages/html.ts'
import type { Mock } from '../types.ts'
import { API_PAGE_PATH, OPENAPI_PATH, PANEL_PATH, STATE_PATH } from './access.ts'
import { copyButton, isolate, rows } from './components.ts'
import { shellWord, tokenCommand } from './copies.ts'
import { factsOf } from './list.ts'
import type { Context, PanelPage } from './page.ts'
import { hasPublicKey, hasPublicUser, loginOf, pathOf, planOf } from './shop.ts'

/** Returns what a program needs to authenticate. Placeholders replace what may be secret. */
const credentialsOf = (mock: Mock) => {
  const { gateway, subscriptions } = mock.clientOptions
  const hidden = { clientSecret: 'YOUR_CLIENT_SECRET', password: 'YOUR_PASSWORD' }
  return {
    apiKey: hasPublicKey(mock) ? gateway.apiKey : 'YOUR_API_KEY',
    credentials: { ...subscriptions.credentials, ...(!hasPublicUser(mock) && hidden) },
  }
}

const text = (value: unknown): string => JSON.stringify(value, null, 2)

const snippetsOf = (mock: Mock, baseUrl: string) => {
  const { apiKey, credentials } = credentialsOf(mock)
  const [charges, logins] = [pathOf(mock, 'gateway.charge'), pathOf(mock, 'subscriptions.login')]
  const orders = pathOf(mock, 'subscriptions.subscribe')
  const numbers = Object.entries(internalsOf(mock).gateway.options.testNumbers)
  const [msisdn] = numbers.find(([, behavior]) => behavior === 'succeeds') ?? [testNumbers.succeeds]
  const charge = text({ msisdn, amount: 250, currency: 'BDT', redirect_uri: 'https://shop.example/paid' })
  const login = loginOf(credentials)
  const order = { requestID: 'order-1', ...planOf(mock), userReturnURL: 'https://shop.example/return' }
  const orderOnWire = text({ ...order, clientID: credentials.clientId })
  const client = (area: 'gateway' | 'subscriptions', secrets: object): string =>
    text({ baseUrl, apiPrefix: mock.clientOptions[area].apiPrefix, ...secrets })
  const post = (path: string, body: string, ...headers: readonly string[]): string =>
    [
      `curl ${shellWord(baseUrl + path)}`,
      ...[...headers, "'Content-Type: application/json'"].map((header) => `-H ${header}`),
      `-d ${shellWord(body)}`,
    ].join(' \\\n  ')
  return {
    curl: `# Charge a payer
${post(charges, charge, `'Authorization: Bearer ${apiKey}'`, "'Idempotency-Key: order-1'")}

# Log in, and create a subscription: open its url as the payer
${tokenCommand(baseUrl + logins, login)}${post(orders, orderOnWire, '"Authorization: Bearer $token"')}

# Move the mock's clock
curl ${shellWord(baseUrl + PANEL_PATH)} -H 'Accept: application/json' -d action=advance -d months=1
`,
    TypeScript: `import { GatewayClient, SubscriptionsClient } from 'mandatekit'

const gateway = new GatewayClient(${client('gateway', { apiKey })})
const charge = await gateway.charge(${charge})
console.log(charge.confirmation_url)

const subscriptions = new SubscriptionsClient(${client('subscriptions', { credentials })})
const { url } = await subscriptions.subscribe(${text(order)})
console.log(url)
`,
    Python: `import json, urllib.request

def call(path, body, **headers):
    data = json.dumps(body).encode()
    request = urllib.request.Request(${text(baseUrl)} + path, data, {"Content-Type": "application/json", **headers})
    return json.load(urllib.request.urlopen(request))

charge = call(${text(charges)}, ${charge}, Authorization=${text(`Bearer ${apiKey}`)}, **{"Idempotency-Key": "order-1"})
print(charge["confirmation_url"])

token = call(${text(logins)}, ${text(login)})["access_token"]
order = ${orderOnWire}
print(call(${text(orders)}, order, Authorization="Bearer " + token)["url"])

print(call(${text(PANEL_PATH)}, {"action": "advance", "months": 1})["message"])
`,
  }
}

const GUIDES = 'https://github.com/mandatekit/mandatekit/blob/main/docs'

const LINKS = {
  'The payment APIs': API_PAGE_PATH,
  'OpenAPI of this panel': OPENAPI_PATH,
  'State as JSON': STATE_PATH,
  'Guide: a shop': `${GUIDES}/shop.md`,
  'What an error means': `${GUIDES}/errors.md`,
}

/** The page with the addresses, credentials and snippets that a program needs. */
export const connectPage = ({ mock, base }: Context): PanelPage => {
  const { apiKey, credentials } = credentialsOf(mock)
  const { grant_type: _, ...login } = loginOf(credentials)
  const { otp, testNumbers: numbers } = internalsOf(mock).gateway.options
  const code = otp === gatewayDefaults.otp ? otp : 'YOUR_CODE'
  const values = { 'Base URL': base, ...login, 'API key': apiKey, 'one-time code': code }
  const facts = Object.entries(values).map(([name, value]) => [
    name,
    html`<code>${value}</code> ${copyButton(value, name)}`,
  ])
  const snippets = Object.entries(snippetsOf(mock, base)).map(
    ([name, code]) => html`<h3>${name}</h3>
<pre id="snippet-${name}" tabindex="0" role="group" aria-label="${name} snippet">${code}</pre>${copyButton(code, `${name} snippet`)}`,
  )
  const links = Object.entries(LINKS).map(
    ([words, address]) => html`<a href="${address}" rel="noreferrer">${words}</a>`,
  )
  const known = Object.entries(numbers).map(
    ([msisdn, name]) =>
      html`<code>${isolate(msisdn)}</code> <span class="quiet">${behaviors[name].description}</span>`,
  )
  return {
    title: 'Connect',
    data: {
      'Addresses and credentials': factsOf(Object.fromEntries(facts)),
      Snippets: snippets,
    },
    controls: { Documents: rows(links, ''), 'Test numbers': rows(known, 'None.') },
  }
}
