import type { MockInternals } from '../assemble.ts'
import { behaviors, testNumbers } from '../gateway/behaviors.ts'
import { gatewayDefaults } from '../gateway/options.ts'
import type { Operation } from '../http/area.ts'
import { type Html, html } from '../pages/html.ts'
import { defaultMerchant } from '../subscriptions/options.ts'
import { DAY } from '../time/duration.ts'
import type { Mock } from '../types.ts'
import { PANEL_PATH } from './access.ts'
import { card, foreign, heard } from './components.ts'

/**
 * Returns the data that a program needs to call the mock. Placeholders replace passwords, keys and codes that differ
 * from the defaults, because these values may be secret.
 */
const readConnection = (mock: Mock, { areas, gateway }: MockInternals, baseUrl: string) => {
  const { subscriptions: s, gateway: g } = mock.clientOptions
  const routes = areas.flatMap(({ router }) => router.routes)
  const pathOf = (operation: Operation): string =>
    routes.find(({ target }) => target.definition.operation === operation)?.path ?? ''
  const secret = (value: string, known: string, words: string): string => (value === known ? value : words)
  const { clientId, clientSecret, username, password } = s.credentials
  const day = (count: number): string => new Date(mock.clock.now() + count * DAY).toISOString().slice(0, 10)
  return {
    baseUrl,
    paths: {
      charge: pathOf('gateway.charge'),
      login: pathOf('subscriptions.login'),
      subscribe: pathOf('subscriptions.subscribe'),
    },
    prefixes: { gateway: g.apiPrefix, subscriptions: s.apiPrefix },
    credentials: {
      client_id: clientId,
      client_secret: secret(clientSecret, defaultMerchant.clientSecret, 'YOUR_CLIENT_SECRET'),
      username,
      password: secret(password, defaultMerchant.users[0].password, 'YOUR_PASSWORD'),
      'API key': secret(g.apiKey, gatewayDefaults.apiKeys[0], 'YOUR_API_KEY'),
      'one-time code': secret(gateway.options.otp, gatewayDefaults.otp, 'YOUR_CODE'),
    },
    numbers: Object.entries(gateway.options.testNumbers),
    /** The first and the last day of the subscription in the snippets. */
    days: [day(2), day(300)],
  }
}

type Connection = ReturnType<typeof readConnection>

const snippetsOf = ({ baseUrl, paths, prefixes, credentials, days, numbers }: Connection) => {
  const {
    client_id: clientId,
    client_secret: clientSecret,
    username,
    password,
    'API key': apiKey,
  } = credentials
  const [start, end] = days
  const msisdn = numbers.find(([, behavior]) => behavior === 'succeeds')?.[0] ?? testNumbers.succeeds
  const text = JSON.stringify
  const charge = text({ msisdn, amount: 250, currency: 'BDT', redirect_uri: 'https://shop.example/paid' })
  const order = {
    requestID: 'order-1',
    start,
    end,
    cycle: 'WEEKLY',
    amount: '25.00',
    userReturnURL: 'https://shop.example/return',
  }
  const login = {
    grant_type: 'password',
    client_id: clientId,
    client_secret: clientSecret,
    username,
    password,
  }
  const client = (area: 'gateway' | 'subscriptions', more: object): string =>
    text({ baseUrl, ...(prefixes[area] === undefined ? {} : { apiPrefix: prefixes[area] }), ...more })
  // Escapes single quotes, because a single quote would end the shell word.
  const word = (value: string): string => `'${value.replaceAll("'", "'\\''")}'`
  const json = "-H 'Content-Type: application/json'"
  return {
    curl: `# Charge a payer
curl ${word(baseUrl + paths.charge)} -H 'Authorization: Bearer ${apiKey}' -H 'Idempotency-Key: order-1' ${json} -d ${word(charge)}

# Log in, and create a subscription: open its url as the payer
token=$(curl -s ${word(baseUrl + paths.login)} ${json} -d ${word(text(login))} | sed 's/.*"access_token":"\\([^"]*\\).*/\\1/')
curl ${word(baseUrl + paths.subscribe)} -H "Authorization: Bearer $token" ${json} -d ${word(text({ ...order, clientID: clientId }))}

# Move the mock's clock
curl ${word(baseUrl + PANEL_PATH)} -H 'Accept: application/json' -d action=advance -d months=1
`,
    TypeScript: `import { GatewayClient, SubscriptionsClient } from 'mandatekit'

const gateway = new GatewayClient(${client('gateway', { apiKey })})
const charge = await gateway.charge(${charge})
console.log(charge.confirmation_url)

const subscriptions = new SubscriptionsClient(${client('subscriptions', { credentials: { clientId, clientSecret, username, password } })})
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
order = ${text({ ...order, clientID: clientId })}
print(call(${text(paths.subscribe)}, order, Authorization="Bearer " + token)["url"])

print(call(${text(PANEL_PATH)}, {"action": "advance", "months": 1})["message"])
`,
  }
}

const copied = (id: string, content: string, kind: 'code' | 'pre', name: string): Html => {
  const source =
    kind === 'pre'
      ? html`<pre id="${id}" tabindex="0" aria-label="${name}">${content}</pre>`
      : html`<code id="${id}">${content}</code>`
  return html`${source} <button type="button" class="copy" data-copy="${id}" hidden>Copy${heard(name)}</button>`
}

/** Renders the card with addresses, credentials and snippets. The card is open until the first request arrives. */
export const connectCard = (mock: Mock, parts: MockInternals, baseUrl: string): Html => {
  const connection = readConnection(mock, parts, baseUrl)
  const { credentials, numbers } = connection
  const fact = ([name, value]: readonly [string, string]): Html =>
    html`<div><dt>${name}</dt><dd>${copied(`connect-${name.replaceAll(' ', '-')}`, value, 'code', name)}</dd></div>`
  const content = html`<summary>Addresses, credentials, snippets</summary>
<dl class="facts">
${Object.entries({ 'Base URL': baseUrl, ...credentials }).map(fact)}
</dl>
<details id="connect-numbers">
<summary>Test numbers</summary>
<dl class="facts">
${numbers.map(([msisdn, name]) => html`<div><dt>${foreign(msisdn)}</dt><dd>${name}: ${behaviors[name].description}</dd></div>`)}
</dl>
</details>
${Object.entries(snippetsOf(connection)).map(
  ([name, code]) => html`<details id="connect-${name}">
<summary>${name}</summary>
${copied(`snippet-${name}`, code, 'pre', `${name} snippet`)}
</details>`,
)}`
  const isNew = parts.log.bounds().end === 0
  return card(
    'connect',
    'Connect',
    isNew ? html`<details open>${content}</details>` : html`<details>${content}</details>`,
  )
}
