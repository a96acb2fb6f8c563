/**
 * Rejects when the work takes longer than `limit` milliseconds of real time. Foreign code (a store, a secret manager)
 * that never answers must not stop every later call, whatever the injected clock says.
 */
export const withTimeout = <Result>(work: Promise<Result>, limit: number, what: string): Promise<Result> =>
  new Promise((resolve, reject) => {
    const late = () =>
      reject(Object.assign(new Error(`${what} took longer than ${limit} ms`), { name: 'TimeoutError' }))
    const timer = setTimeout(late, limit)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
