import fc from 'fast-check'
import type { MockOptions } from '../../../mocks/core.ts'

/** Options of a server in both areas. */
export const options: fc.Arbitrary<MockOptions> = fc.record(
  {
    rules: fc.constantFrom('spec' as const, 'strict' as const),
    subscriptions: fc.record(
      {
        apiPrefix: fc.constantFrom('/api/v1.0', '/api/v2'),
        pendingSubscriptionId: fc.constantFrom('issued', 'NA', '', 'omit'),
        enabledValues: fc.constantFrom(
          { active: 1, inactive: 0 },
          { active: 0, inactive: 1 },
          { active: 2, inactive: 3 },
        ),
        timeZone: fc.constantFrom('UTC', 'Asia/Dhaka', 'America/New_York'),
        debitTime: fc.constantFrom('12:00:00', '03:30:00'),
        requestTtl: fc.constantFrom(false, { hours: 24 }, { hours: 3 }),
        dunning: fc.constantFrom({ retries: 0, everyDays: 1 }, { retries: 2, everyDays: 1 }),
        nextPaymentDateAfterEnd: fc.constantFrom('date', 'null'),
        cancelDelay: fc.constantFrom({ seconds: 0 }, { hours: 4 }),
        cancelTwice: fc.constantFrom('same', 'refuse'),
        tokenTtl: fc.constantFrom({ seconds: 3600 }, { days: 2 }),
        refresh: fc.constantFrom('rotate', 'reuse', 'reject'),
        errorCodes: fc.constantFrom({}, { invalid: 'E7', not_found: '44' }),
        validationStatus: fc.constantFrom(200, 400, 409, 422),
        errorsAs200: fc.boolean(),
        notFoundStatus: fc.constantFrom(200, 400, 404),
        paging: fc.constantFrom(
          { defaultSize: 10, maxSize: 100, ignore: [] },
          { defaultSize: 2, maxSize: 2, ignore: [] },
          { defaultSize: 5, maxSize: 9, ignore: ['per_page'] },
          { defaultSize: 5, maxSize: 9, ignore: ['page'] },
        ),
        rateLimit: fc.constantFrom(false, { limit: 600, windowMs: 60_000 }, { limit: 9, windowMs: 60_000 }),
        sendRetryAfter: fc.boolean(),
        tokenEnvelope: fc.boolean(),
        variant: fc.subarray([
          'id-casing',
          'text-ids',
          'text-amounts',
          'text-flags',
          'empty-reversals',
          'iso-dates',
          'number-codes',
        ]),
      },
      { requiredKeys: [] },
    ),
    gateway: fc.record(
      {
        contentType: fc.constantFrom('json', 'any'),
        defaultBehavior: fc.constantFrom('succeeds', 'insufficient_funds', 'retry_then_succeeds', 'expires'),
        retryDelay: fc.constantFrom(false, { hours: 24 }, { minutes: 5 }),
        confirmationTtl: fc.constantFrom(false, { hours: 24 }, { hours: 1 }),
        confirmResponse: fc.constantFrom('charge', 'status', 'empty'),
        statusResponse: fc.constantFrom('charge', 'status'),
        keyReuse: fc.constantFrom('replay', 'reject'),
        keyTtl: fc.constantFrom(false, { hours: 4 }),
        renewalsAsMandates: fc.boolean(),
        maxOtpAttempts: fc.constantFrom(false, 2),
        rateLimit: fc.constantFrom(false, { limit: 120, windowMs: 60_000 }, { limit: 7, windowMs: 60_000 }),
        inputRules: fc.constantFrom('types', 'formats'),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ['subscriptions', 'gateway'] },
) as fc.Arbitrary<MockOptions>
