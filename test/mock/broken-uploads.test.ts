import { describe, expect, test } from 'vitest'
import { createMock } from '../../mocks/core.ts'

/** A body whose first part comes; then it breaks, or nothing more comes. */
const body = (then: 'breaks' | 'stalls') => {
  let sent = false
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      if (!sent) controller.enqueue(new TextEncoder().encode('{"msisdn":'))
      else if (then === 'breaks') controller.error(new Error('the disk is gone'))
      else return new Promise(() => undefined)
      sent = true
      return undefined
    },
  })
}

const upload = (then: 'breaks' | 'stalls', signal?: AbortSignal) => {
  const mock = createMock({ clock: '2026-12-01T06:00:00Z' })
  const { baseUrl, apiKey } = mock.clientOptions.gateway
  const init: RequestInit & { duplex: 'half' } = {
    method: 'POST',
    headers: { Authorization: `Bearer ${apiKey}`, 'Idempotency-Key': 'k' },
    body: body(then),
    duplex: 'half',
    ...(signal === undefined ? {} : { signal }),
  }
  return { mock, answer: mock.fetch(`${baseUrl}/api/v1/mfs/charges`, init) }
}

describe('a body that does not arrive', () => {
  test('fails the call when it breaks, and executes nothing', async () => {
    const { mock, answer } = upload('breaks')
    await expect(answer).rejects.toThrow(TypeError)
    expect(mock.state.charges()).toEqual([])
    expect(mock.requests.all()).toMatchObject([{ decision: 'aborted', executed: false }])
  })

  test('does not keep a caller who gives up', async () => {
    const controller = new AbortController()
    const { mock, answer } = upload('stalls', controller.signal)
    controller.abort(new Error('enough'))
    await expect(answer).rejects.toThrow('enough')
    expect(mock.state.charges()).toEqual([])
  })
})
