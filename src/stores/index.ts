export type { LoginBlock, StoredToken, TokenRecord } from '../auth/token-record.ts'
export type { TokenStore } from '../auth/token-store.ts'
export type { Claim, DedupeStore } from '../notifications/dedupe.ts'
export type { KeyvDedupeStoreOptions, KeyvLike, KeyvOptions } from './keyv.ts'
export { createKeyvDedupeStore, createKeyvTokenStore } from './keyv.ts'
export type {
  IoredisClient,
  NodeRedisClient,
  RedisClient,
  RedisOptions,
  RedisTokenStoreOptions,
} from './redis.ts'
export { createRedisDedupeStore, createRedisTokenStore } from './redis.ts'
