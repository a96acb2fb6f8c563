/** One figure beside its target. */
export interface Figure {
  readonly what: string
  /** The target in words, for example `≤ 1.15`. */
  readonly target: string
  readonly measured: string
  readonly ok: boolean
}

/** Prints a figure, hands it to `bench/run.ts` when that started this file, and fails the process when it misses. */
export const report = (figure: Figure): void => {
  const { what, target, measured, ok } = figure
  console.log(`${ok ? 'ok  ' : 'MISS'} ${what}: ${measured} (target ${target})`)
  process.send?.(figure)
  if (!ok) process.exitCode = 1
}

/** What something took: time on the wall and of the processor. */
export interface Spent {
  readonly wall: number
  readonly cpu: number
}

/** Runs something and measures it, in microseconds. */
export const spentBy = async (run: () => Promise<void>): Promise<Spent> => {
  const cpu = process.cpuUsage()
  const startedAt = performance.now()
  await run()
  const wall = (performance.now() - startedAt) * 1_000
  const { user, system } = process.cpuUsage(cpu)
  return { wall, cpu: user + system }
}

/** What a way of doing something took at its best, and its median ratio to the first way of the same round. */
export interface Compared extends Spent {
  readonly ratio: Spent
}

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN

/**
 * Runs several ways of doing the same by turns, so that whatever else the machine does meets all of them. Ratios compare
 * within a round and keep the median; times are those of the best round, because other work can only add to them.
 */
export const compare = async <Way extends string>(
  ways: Readonly<Record<Way, () => Promise<void>>>,
  rounds: number,
): Promise<Record<Way, Compared>> => {
  const names = Object.keys(ways) as Way[]
  const spent = new Map<Way, Spent[]>(names.map((name) => [name, []]))
  for (let round = 0; round < rounds; round += 1) {
    // Each way is first as often as it is last.
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      spent.get(name)?.push(await spentBy(ways[name]))
    }
  }
  const base = spent.get(names[0] as Way) ?? []
  const compared = names.map((name): [Way, Compared] => {
    const own = spent.get(name) ?? []
    const best = (kind: keyof Spent) => Math.min(...own.map((each) => each[kind]))
    const ratio = (kind: keyof Spent) =>
      median(own.map((each, round) => each[kind] / (base[round]?.[kind] ?? Number.NaN)))
    return [name, { wall: best('wall'), cpu: best('cpu'), ratio: { wall: ratio('wall'), cpu: ratio('cpu') } }]
  })
  return Object.fromEntries(compared) as Record<Way, Compared>
}
