import { describe, expect, it } from 'vitest'
import { nextStep } from '../../src/index.ts'
import { CHARGE, CHARGE_REQUEST } from '../support/bodies.ts'
import { API_KEY, errorOf, gatewayClient } from '../support/clients.ts'
import { openClients } from '../support/open-clients.ts'
import { skippingClock } from '../support/skipping-clock.ts'

describe('case 139: an apiKey function whose key changes during a call', () => {
  const open = async (answers: Parameters<typeof openClients>[0]) => {
    const { url, requests } = await openClients(answers)
    let asked = 0
    const apiKey = () => {
      asked += 1
      if (asked > 1) throw new Error('The vault is closed.')
      return API_KEY
    }
    const client = gatewayClient(url, { clock: skippingClock(), apiKey })
    return { client, keys: () => requests.map(({ headers }) => headers.authorization) }
  }

  it('is not called again for a retry, which sends the key with which the call began', async () => {
    const { client, keys } = await open([{ status: 503 }, { status: 202, body: CHARGE }])
    await client.charge(CHARGE_REQUEST)
    expect(keys()).toEqual([`Bearer ${API_KEY}`, `Bearer ${API_KEY}`])
  })

  it('ends the call with an unknown outcome when the old key is rejected after a lost response', async () => {
    const { client, keys } = await open([{ status: 503 }, { status: 401, body: {} }])
    const error = await errorOf(client.charge(CHARGE_REQUEST))
    expect(error).toMatchObject({ status: 401, outcome: 'unknown', attempts: 2 })
    expect((error as Error).message).toContain(
      'under another API key, the same idempotencyKey could act twice',
    )
    expect(nextStep(error)).toEqual({ step: 'find-out', how: 'find-charge' })
    expect(keys()).toHaveLength(2)
  })

  it('ends the next call before a request, because each call asks for its own key', async () => {
    const { client, keys } = await open([{ status: 202, body: CHARGE }])
    await client.charge(CHARGE_REQUEST)
    expect(await errorOf(client.charge(CHARGE_REQUEST))).toMatchObject({ outcome: 'not-sent', attempts: 0 })
    expect(keys()).toHaveLength(1)
  })
})
