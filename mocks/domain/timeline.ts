import type { Agenda } from '../time/agenda.ts'

/** The agenda, as the areas use it. */
export type Timeline = Pick<Agenda, 'now' | 'schedule' | 'cancel' | 'on'> & {
  settle(): void
  cancelAll(kind: string): void
}
