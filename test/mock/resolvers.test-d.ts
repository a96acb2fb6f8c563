import { expectTypeOf, test } from 'vitest'
import type { Call, Resolvers } from '../../mocks/http/area.ts'
import type { GatewayCaller } from '../../mocks/http/gateway-area.ts'
import type { Merchant } from '../../mocks/subscriptions/state.ts'
import type { gatewayContract } from '../../src/contract/gateway.ts'
import type { subscriptionsContract } from '../../src/contract/subscriptions.ts'

type OfGateway = Resolvers<typeof gatewayContract, GatewayCaller>
type OfSubscriptions = Resolvers<typeof subscriptionsContract, Merchant>

test('there is a resolver for each operation of a contract: one that is missing does not compile', () => {
  expectTypeOf<keyof OfGateway>().toEqualTypeOf<keyof typeof gatewayContract>()
  expectTypeOf<keyof OfSubscriptions>().toEqualTypeOf<keyof typeof subscriptionsContract>()
  expectTypeOf<Omit<OfGateway, 'renew'>>().not.toExtend<OfGateway>()
  expectTypeOf<Omit<OfSubscriptions, 'cancel'>>().not.toExtend<OfSubscriptions>()
})

test('a resolver reads the parameters of its own path', () => {
  type Renew = Call<(typeof gatewayContract)['renew'], GatewayCaller>
  type Login = Call<(typeof subscriptionsContract)['login'], Merchant>
  expectTypeOf<keyof Renew['parameters']>().toEqualTypeOf<'id'>()
  expectTypeOf<keyof Login['parameters']>().toEqualTypeOf<never>()
})
