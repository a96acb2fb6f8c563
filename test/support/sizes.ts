/** Whether this run takes the full sizes: `npm run test:full`, or `npm test -- --mode full`. */
export const full = process.env.MODE === 'full'

/** Chooses a size: `atFull` in a full run, `quick` in `npm test`. */
export function sized<Size>(atFull: Size, quick: Size): Size {
  return full ? atFull : quick
}
