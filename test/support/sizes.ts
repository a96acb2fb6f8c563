/** Whether this run takes the full sizes: `npm run test:full`, or `npm test -- --mode full`. */
export const full = process.env.MODE === 'full'

/** Chooses a size: `atFull` in a full run, `quick` in `npm test`. */
export function sized(atFull: number, quick: number): number {
  return full ? atFull : quick
}
