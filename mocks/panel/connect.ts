import { internalsOf } from '../assemble.ts'
import { behaviors, testNumbers } from '../gateway/behaviors.ts'
import { gatewayDefaults } from '../gateway/options.ts'
import { type Html, html } from '../pages/html.ts'
import { defaultMerchant } from '../subscriptions/options.ts'
import type { Mock } from '../types.ts'
import { API_PAGE_PATH, OPENAPI_PATH, PANEL_PATH, STATE_PATH } from './access.ts'
import { card, copyButton, isolate, rows } from './components.ts'
import { shellWord, tokenCommand } from './copies.ts'
import type { Context, PanelPage } from './page.ts'
import { loginOf, pathOf, planOf } from './shop.ts'

/** Returns a value that is public by default. A placeholder replaces any other value, because it may be secret. */
const publicOr = (placeholder: string, value: string, known: string): string =>
  value === known ? value : placeholder

/** Returns what a program needs to authenticate, without secrets. */
const credentialsOf = (mock: Mock) => {
  const { gateway, subscriptions } = mock.clientOptions
  const { clientSecret, password, ...rest } = subscriptions.credentials
  return {
    apiKey: publicOr('YOUR_API_KEY', gateway.apiKey, gatewayDefaults.apiKeys[0]),
    credentials: {
      ...rest,
      clientSecret: publicOr('YOUR_CLIENT_SECRET', clientSecret, defaultMerchant.clientSecret),
      password: publicOr('YOUR_PASSWORD', password, defaultMerchant.users[0].password),
    },
  }
}

const text = (value: unknown): string => JSON.stringify(value, null, 2)

const snippetsOf = (mock: Mock, baseUrl: string) => {
  const { apiKey, credentials } = credentialsOf(mock)
  const paths = {
    charge: pathOf(mock, 'gateway.charge'),
    login: pathOf(mock, 'subscriptions.login'),
    subscribe: pathOf(mock, 'subscriptions.subscribe'),
  }
  const numbers = Object.entries(internalsOf(mock).gateway.options.testNumbers)
  const [msisdn] = numbers.find(([, behavior]) => behavior === 'succeeds') ?? [testNumbers.succeeds]
  const charge = text({ msisdn, amount: 250, currency: 'BDT', redirect_uri: 'https://shop.example/paid' })
  const login = loginOf(credentials)
  const order = { requestID: 'order-1', ...planOf(mock), userReturnURL: 'https://shop.example/return' }
  const orderOnWire = text({ ...order, clientID: credentials.clientId })
  const client = (area: 'gateway' | 'subscriptions', secrets: object): string =>
    text({ baseUrl, apiPrefix: mock.clientOptions[area].apiPrefix, ...secrets })
  const json = "-H 'Content-Type: application/json'"
  return {
    curl: `# Charge a payer
curl ${shellWord(baseUrl + paths.charge)} \\
  -H 'Authorization: Bearer ${apiKey}' \\
  -H 'Idempotency-Key: order-1' \\
  ${json} \\
  -d ${shellWord(charge)}

# Log in, and create a subscription: open its url as the payer
${tokenCommand(baseUrl, paths.login, login)}curl ${shellWord(baseUrl + paths.subscribe)} \\
  -H "Authorization: Bearer $token" \\
  ${json} \\
  -d ${shellWord(orderOnWire)}

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

charge = call(${text(paths.charge)}, ${charge}, Authorization=${text(`Bearer ${apiKey}`)}, **{"Idempotency-Key": "order-1"})
print(charge["confirmation_url"])

token = call(${text(paths.login)}, ${text(login)})["access_token"]
order = ${orderOnWire}
print(call(${text(paths.subscribe)}, order, Authorization="Bearer " + token)["url"])

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
  const code = publicOr('YOUR_CODE', otp, gatewayDefaults.otp)
  const values = { 'Base URL': base, ...login, 'API key': apiKey, 'one-time code': code }
  const fact = ([name, value]: readonly [string, string]): Html =>
    html`<div><dt>${name}</dt><dd><code>${value}</code> ${copyButton(value, name)}</dd></div>`
  const snippet = ([name, code]: readonly [string, string]): Html => html`<h3>${name}</h3>
<pre id="snippet-${name}" tabindex="0" role="group" aria-label="${name} snippet">${code}</pre>${copyButton(code, `${name} snippet`)}`
  const link = ([words, address]: readonly [string, string]): Html =>
    html`<a href="${address}" rel="noreferrer">${words}</a>`
  const number = ([msisdn, name]: readonly [string, keyof typeof behaviors]): Html =>
    html`<code>${isolate(msisdn)}</code> <span class="quiet">${behaviors[name].description}</span>`
  return {
    title: 'Connect',
    data: [
      card('Addresses and credentials', html`<dl>${Object.entries(values).map(fact)}</dl>`),
      card('Snippets', Object.entries(snippetsOf(mock, base)).map(snippet)),
    ],
    controls: [
      card('Documents', rows(Object.entries(LINKS).map(link), '')),
      card('Test numbers', rows(Object.entries(numbers).map(number), 'None.')),
    ],
  }
}
