import { internalsOf } from '../assemble.ts'
import { behaviors, testNumbers } from '../gateway/behaviors.ts'
import { gatewayDefaults } from '../gateway/options.ts'
import { type Html, html } from '../pages/html.ts'
import { defaultMerchant } from '../subscriptions/options.ts'
import type { Mock } from '../types.ts'
import { API_PAGE_PATH, OPENAPI_PATH, PANEL_PATH, STATE_PATH } from './access.ts'
import { card, copyButton, isolate } from './components.ts'
import { shellWord } from './copies.ts'
import type { Context, PanelPage } from './page.ts'
import { loginOf, pathOf, planOf } from './shop.ts'

/**
 * Returns the data that a program needs to call the mock. Placeholders replace passwords, keys and codes that differ
 * from the defaults, because these values may be secret.
 */
const readConnection = (mock: Mock, baseUrl: string) => {
  const { gateway } = internalsOf(mock)
  const { subscriptions: s, gateway: g } = mock.clientOptions
  const secret = (value: string, known: string, words: string): string => (value === known ? value : words)
  const credentials = {
    ...s.credentials,
    clientSecret: secret(s.credentials.clientSecret, defaultMerchant.clientSecret, 'YOUR_CLIENT_SECRET'),
    password: secret(s.credentials.password, defaultMerchant.users[0].password, 'YOUR_PASSWORD'),
  }
  const { grant_type: _, ...shown } = loginOf(credentials)
  return {
    baseUrl,
    paths: {
      charge: pathOf(mock, 'gateway.charge'),
      login: pathOf(mock, 'subscriptions.login'),
      subscribe: pathOf(mock, 'subscriptions.subscribe'),
    },
    prefixes: { gateway: g.apiPrefix, subscriptions: s.apiPrefix },
    credentials,
    shown: {
      ...shown,
      'API key': secret(g.apiKey, gatewayDefaults.apiKeys[0], 'YOUR_API_KEY'),
      'one-time code': secret(gateway.options.otp, gatewayDefaults.otp, 'YOUR_CODE'),
    },
    numbers: Object.entries(gateway.options.testNumbers),
    plan: planOf(mock),
  }
}

type Connection = ReturnType<typeof readConnection>

const text = (value: unknown): string => JSON.stringify(value, null, 2)

const snippetsOf = ({ baseUrl, paths, prefixes, credentials, shown, plan, numbers }: Connection) => {
  const apiKey = shown['API key']
  const login = loginOf(credentials)
  const msisdn = numbers.find(([, behavior]) => behavior === 'succeeds')?.[0] ?? testNumbers.succeeds
  const charge = text({ msisdn, amount: 250, currency: 'BDT', redirect_uri: 'https://shop.example/paid' })
  const order = { requestID: 'order-1', ...plan, userReturnURL: 'https://shop.example/return' }
  const client = (area: 'gateway' | 'subscriptions', more: object): string =>
    text({ baseUrl, ...(prefixes[area] === undefined ? {} : { apiPrefix: prefixes[area] }), ...more })
  const json = "-H 'Content-Type: application/json'"
  return {
    curl: `# Charge a payer
curl ${shellWord(baseUrl + paths.charge)} \\
  -H 'Authorization: Bearer ${apiKey}' \\
  -H 'Idempotency-Key: order-1' \\
  ${json} \\
  -d ${shellWord(charge)}

# Log in, and create a subscription: open its url as the payer
token=$(curl -s ${shellWord(baseUrl + paths.login)} \\
  ${json} \\
  -d ${shellWord(text(login))} \\
  | sed 's/.*"access_token":"\\([^"]*\\).*/\\1/')
curl ${shellWord(baseUrl + paths.subscribe)} \\
  -H "Authorization: Bearer $token" \\
  ${json} \\
  -d ${shellWord(text({ ...order, clientID: credentials.clientId }))}

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
order = ${text({ ...order, clientID: credentials.clientId })}
print(call(${text(paths.subscribe)}, order, Authorization="Bearer " + token)["url"])

print(call(${text(PANEL_PATH)}, {"action": "advance", "months": 1})["message"])
`,
  }
}

/** The page with the addresses, credentials and snippets that a program needs. */
export const connectPage = ({ mock, base }: Context): PanelPage => {
  const connection = readConnection(mock, base)
  const { shown, numbers } = connection
  const fact = ([name, value]: readonly [string, string]): Html =>
    html`<div><dt>${name}</dt><dd><code>${value}</code> ${copyButton(value, name)}</dd></div>`
  const snippet = ([name, code]: readonly [string, string]): Html => html`<h3>${name}</h3>
<pre id="snippet-${name}" tabindex="0" role="group" aria-label="${name} snippet">${code}</pre>${copyButton(code, `${name} snippet`)}`
  return {
    title: 'Connect',
    data: [
      card(
        'Addresses and credentials',
        html`<dl>${Object.entries({ 'Base URL': base, ...shown }).map(fact)}</dl>`,
      ),
      card('Snippets', html`${Object.entries(snippetsOf(connection)).map(snippet)}`),
    ],
    controls: [
      card(
        'Documents',
        html`<ul class="rows"><li><a href="${API_PAGE_PATH}">The payment APIs</a></li>
<li><a href="${OPENAPI_PATH}">OpenAPI of this panel</a></li>
<li><a href="${STATE_PATH}">State as JSON</a></li>
<li><a href="https://github.com/mandatekit/mandatekit/blob/main/docs/shop.md" rel="noreferrer">Guide: a shop</a></li>
<li><a href="https://github.com/mandatekit/mandatekit/blob/main/docs/errors.md" rel="noreferrer">What an error means</a></li></ul>`,
      ),
      card(
        'Test numbers',
        html`<ul class="rows">${numbers.map(([msisdn, name]) => html`<li><code>${isolate(msisdn)}</code> <span class="quiet">${behaviors[name].description}</span></li>`)}</ul>`,
      ),
    ],
  }
}
