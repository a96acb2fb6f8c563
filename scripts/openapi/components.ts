import type { Area, EndpointDefinition } from '../../src/contract/endpoint.ts'
import * as gateway from '../../src/contract/gateway.ts'
import { notificationSchema } from '../../src/contract/notifications.ts'
import * as subscriptions from '../../src/contract/subscriptions.ts'
import { type Component, type Json, plainSchema } from './schemas.ts'

const component = (name: string, schema: Parameters<typeof plainSchema>[0], type = name) => ({
  name,
  type,
  schema,
})

/** Every schema of the contract that is a component of a document. */
const named = {
  subscriptions: [
    component('TokenRequest', subscriptions.tokenRequestSchema),
    component('Token', subscriptions.tokenSchema),
    component('SubscriptionRequest', subscriptions.subscriptionRequestSchema),
    component('SubscribeResult', subscriptions.subscribeResultSchema),
    component('RequestStatus', subscriptions.requestStatusSchema),
    component('SubscriptionDetails', subscriptions.subscriptionDetailsSchema),
    component('Cancellation', subscriptions.cancellationSchema),
    component('Payment', subscriptions.paymentSchema),
    component('PaymentDetails', subscriptions.paymentDetailsSchema),
    component('PaymentList', subscriptions.paymentListSchema),
    component('SubscriptionsError', subscriptions.envelopeSchema, 'Envelope'),
    component('Notification', notificationSchema, 'NotificationMessage'),
  ],
  gateway: [
    component('ChargeRequest', gateway.chargeRequestSchema),
    component('ConfirmRequest', gateway.confirmRequestSchema),
    component('RenewRequest', gateway.renewRequestSchema),
    component('Charge', gateway.chargeSchema),
    component('GatewayError', gateway.gatewayErrorSchema, 'GatewayErrorBody'),
  ],
}

/** The component with the error body of each area. */
export const errorComponents: Readonly<Record<Area, string>> = {
  subscriptions: 'SubscriptionsError',
  gateway: 'GatewayError',
}

const reference = (name: string): Json => ({ $ref: `#/components/schemas/${name}` })

/** Returns the reference to the schema of a request or of a response; `undefined` for a response of any JSON. */
export const referenceOf = (area: Area, schema: EndpointDefinition['response']): Json | undefined => {
  const found = named[area].find((each) => each.schema === schema)
  return found && reference(found.name)
}

/** The components of a response that may omit fields: `confirm` and `status` of a charge. */
export const partialName = ({ operation }: EndpointDefinition): string =>
  operation === 'gateway.confirm' ? 'ConfirmResult' : 'ChargeStatus'

// The header Authorization carries the token, so it has the form that RFC 6750 gives it.
const BEARER_TOKEN = { type: 'string', pattern: '^[A-Za-z0-9._~+/-]+=*$' }

// The specification states the success code. An error has another code (Errors, area S).
const SUCCESS_CODE = { type: 'string', enum: ['00'] }

/** In a success, `errorCode` is `00`. The response of a login may omit the two fields of the envelope (row 50). */
const succeeded = (name: string, schema: Json): Json => {
  const properties: Json = Object(schema.properties)
  if (name === 'Token') {
    return {
      ...schema,
      properties: {
        ...properties,
        access_token: BEARER_TOKEN,
        errorCode: SUCCESS_CODE,
        errorMessage: { type: 'string' },
      },
    }
  }
  return name === errorComponents.subscriptions || properties.errorCode === undefined
    ? schema
    : { ...schema, properties: { ...properties, errorCode: SUCCESS_CODE } }
}

/** Returns the schemas of an area's components, without texts. */
export const componentsOf = (area: Area): readonly Component[] => {
  const components = named[area].map(({ name, type, schema }) => ({
    name,
    type,
    schema: succeeded(name, plainSchema(schema)),
  }))
  if (area === 'subscriptions') return components
  const error = components.find(({ name }) => name === errorComponents.gateway)
  const detail: Json = Object(Object(error?.schema.properties).error)
  const charge = components.find(({ name }) => name === 'Charge')
  const partial = Object.values(gateway.gatewayContract).filter(
    (definition: EndpointDefinition) => definition.partialResponse === true,
  )
  return [
    ...components,
    { name: 'GatewayErrorDetail', type: 'GatewayErrorDetail', schema: detail },
    ...partial.map((definition: EndpointDefinition) => ({
      name: partialName(definition),
      type: 'Charge',
      schema: { ...charge?.schema, required: definition.requiredFields ?? [] },
    })),
  ]
}
