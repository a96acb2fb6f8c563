import { dateText } from '../time/calendar.ts'
import { DAY, MINUTE } from '../time/duration.ts'

/** Returns the day so many days after `now`, in a zone that is so many minutes ahead of UTC. */
export const dayAfter = (now: number, zoneMinutes: number, days: number): string =>
  dateText(Math.floor((now + zoneMinutes * MINUTE) / DAY) + days)

const QUARTER = 15

/** Returns how many minutes a time without a zone is ahead of the header Date, to the quarter of an hour. */
export const zoneOffset = (naive: string, date: string | undefined): number | undefined => {
  const ahead = Date.parse(`${naive.replace(' ', 'T')}Z`) - Date.parse(date ?? '')
  return Number.isNaN(ahead) ? undefined : Math.round(ahead / MINUTE / QUARTER) * QUARTER || 0
}

// Zones without summer time, whose names say more than `Etc/GMT-6`.
const NAMED: Readonly<Record<number, string>> = {
  0: 'UTC',
  210: 'Asia/Tehran',
  270: 'Asia/Kabul',
  300: 'Asia/Karachi',
  330: 'Asia/Kolkata',
  345: 'Asia/Kathmandu',
  360: 'Asia/Dhaka',
  390: 'Asia/Yangon',
  420: 'Asia/Jakarta',
  570: 'Australia/Darwin',
}

/** Returns an IANA zone that is always so many minutes ahead of UTC. */
export const zoneAt = (minutes: number): string | undefined => {
  const named = NAMED[minutes]
  if (named !== undefined) return named
  const hours = minutes / 60
  if (!Number.isInteger(hours) || hours > 14 || hours < -12) return undefined
  // The signs of these names are reversed.
  return `Etc/GMT${hours > 0 ? '-' : '+'}${Math.abs(hours)}`
}
