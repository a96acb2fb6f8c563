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

/** What a way of doing something took at its best, and that divided by the first way's. */
export interface Compared extends Spent {
  readonly ratio: Spent
}

/**
 * Runs several ways of doing the same by turns, so that whatever else the machine does meets all of them, and keeps the
 * best round of each: other work can only add to it.
 */
export const compare = async <Way extends string>(
  ways: Readonly<Record<Way, () => Promise<void>>>,
  rounds: number,
): Promise<Record<Way, Compared>> => {
  const names = Object.keys(ways) as Way[]
  const best = new Map<Way, Spent>()
  for (let round = 0; round < rounds; round += 1) {
    // Each way is first as often as it is last.
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const { wall, cpu } = await spentBy(ways[name])
      const before = best.get(name) ?? { wall, cpu }
      best.set(name, { wall: Math.min(wall, before.wall), cpu: Math.min(cpu, before.cpu) })
    }
  }
  const none: Spent = { wall: Number.NaN, cpu: Number.NaN }
  const [first] = names
  const base = (first && best.get(first)) ?? none
  const compared = names.map((name): [Way, Compared] => {
    const { wall, cpu } = best.get(name) ?? none
    return [name, { wall, cpu, ratio: { wall: wall / base.wall, cpu: cpu / base.cpu } }]
  })
  return Object.fromEntries(compared) as Record<Way, Compared>
}
