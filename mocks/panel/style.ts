import { base } from '../pages/style.ts'

/** The style of the panel. The Content-Security-Policy contains the hash of this style, so no other style applies. */
export const style = `${base}
/* The sticky header must not cover a link's target or the focused element. */
html { scroll-padding-block: 15rem 1rem; }
body { padding: 0 1rem 3rem; font-size: 0.9375rem; }
main { border: 0; background: none; }
h2 { margin: 0 0 0.625rem; line-height: 1.25; }
h3 { margin: 1rem 0 0.25rem; font-size: 0.9375rem; }
h2:focus { outline: none; }
small, .quiet, .count, .what, th, dt, figcaption, label { color: var(--quiet); font-size: 0.8125rem; font-weight: 400; }
time, .id bdi, .link, .word, .badge, code, summary, .amount bdi { white-space: nowrap; }
ul, ol { margin: 0; padding: 0; list-style: none; }
.visually-hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.bar, nav, .clock, .actions, .filter, .pages, .rows > li, .timeline > li, .timeline > li > div { display: flex; flex-wrap: wrap; align-items: center; gap: 0.375rem 0.75rem; }

header { position: sticky; top: 0; z-index: 1; margin: 0 -1rem; padding: 0.625rem 1rem; border-bottom: 1px solid var(--line); background: var(--ground); }
header p, nav { margin: 0; }
.name, #clock-now { font-size: 1.0625rem; font-weight: 650; }
nav { margin: 0.375rem 0; }
nav a { padding: 0.125rem 0; text-decoration: none; }
nav a[aria-current] { border-bottom: 2px solid var(--accent); font-weight: 650; }
.live { color: var(--good); font-size: 0.8125rem; font-weight: 600; }
.live::before { content: "●"; margin-right: 0.375rem; }
.live.lost { color: var(--alert); }
.clock { gap: 0.375rem; }
#clock-now { margin-right: 0.375rem; }
#notice { border-radius: 0.625rem; font-weight: 600; overflow-wrap: anywhere; }
#notice p { margin-top: 0.5rem; padding: 0.5rem 0.875rem; }
.done { background: var(--good-ground); color: var(--good); }
/* On a phone a sticky header would take too much height: it scrolls away, and the clock is at the bottom. */
@media (max-width: 47.99rem) {
  html { scroll-padding-block: 0.5rem 9rem; }
  body { padding-bottom: 11rem; }
  header { position: static; }
  .clock { position: fixed; inset: auto 0 0; z-index: 1; padding: 0.5rem 1rem; border-top: 1px solid var(--line); background: var(--ground); }
  #clock-now { flex: 1 0 100%; }
  main dt { flex-basis: 7rem; }
  .clock button { min-height: 2.25rem; padding: 0 0.4375rem; }
}

.columns, .columns > div { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1rem; align-items: start; }
@media (min-width: 75rem) {
  .columns:not(.alone) { grid-template-columns: minmax(0, 1fr) 19rem; }
}
section { min-width: 0; padding: 1rem; }
table { width: 100%; margin-top: 0.75rem; border-collapse: collapse; }
th, td { padding: 0.5rem 0.75rem 0.5rem 0; text-align: left; vertical-align: top; }
td:last-child { padding-right: 0; }
td, .pages, li + li { border-top: 1px solid var(--line); }
td bdi { max-width: 16rem; }
/* A long word of the reason must not widen the table. */
td[data-heading="Reason"] { width: 40%; max-width: 0; }
td[data-heading="Reason"] bdi { max-width: 100%; }
/* On a phone the cells of a row follow each other. A request and its reason take two lines each at most. */
@media (max-width: 63.99rem) {
  thead { display: none; }
  table, tbody { display: block; }
  tr { display: flex; flex-wrap: wrap; align-items: center; gap: 0.125rem 0.75rem; padding: 0.5rem 0; border-top: 1px solid var(--line); }
  td, td[data-heading="Reason"] { width: auto; max-width: 100%; padding: 0; border: 0; }
  td:first-child { flex: 1 1 auto; }
  td bdi { max-width: 100%; }
  td:empty { display: none; }
  #requests td[data-heading="Reason"] { flex: 0 0 100%; }
  #requests td bdi { display: -webkit-inline-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; }
  td:is([data-heading^="Next"], [data-heading="Payments"], [data-heading="Due"], [data-heading="Made"], [data-heading="Created"])::before { content: attr(data-heading) " "; color: var(--quiet); font-size: 0.8125rem; }
  .steps ul + ul::before { display: none; }
}
.amount bdi { max-width: 8rem; }
.id { display: inline-flex; flex-wrap: wrap; align-items: center; gap: 0 0.375rem; max-width: 100%; }
.middle { font-size: 0; }
.middle::before { content: "…"; font-size: 0.9375rem; }
:where(td) button, :where(td) summary.danger { min-height: 1.75rem; padding-block: 0; white-space: normal; }
pre { max-height: 24rem; }
.badge { display: inline-block; padding: 0 0.5rem; border-radius: 1rem; background: var(--ground); color: var(--quiet); font-size: 0.8125rem; font-weight: 600; }
.badge.good { background: var(--good-ground); color: var(--good); }
.badge.waiting { background: var(--note-ground); color: var(--note); }
.badge.bad { background: var(--alert-ground); color: var(--alert); }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(22rem, 100%), 1fr)); gap: 0.25rem 1rem; }
dl div { display: flex; gap: 0 0.5rem; min-width: 0; }
dl div:has(.id, .link) { flex-wrap: wrap; }
dt { flex: 0 0 8rem; }
dd { min-width: 0; }
.explanation { font-size: 1.0625rem; }
.explanation bdi { overflow: visible; }
.actions { margin-top: 0.75rem; }
.rows .actions { margin: 0 0 0 auto; }
.rows > li, .timeline > li { gap: 0.25rem 0.5rem; padding: 0.5rem 0; }
.rows > li > *, .timeline > li > div > * { min-width: 0; max-width: 100%; }
.rows form, .rows details, .timeline form, .timeline details, .pages span:first-child { margin-left: auto; }
.pages span:first-child { margin: 0 auto 0 0; }
.timeline > li > div { flex: 1 1 20rem; min-width: 0; }
.what { flex: 0 0 5.5rem; }
.planned { opacity: 0.85; font-style: italic; }
.pages { padding-top: 0.75rem; }
figure { margin: 0.75rem 0 0; }
.steps { display: flex; flex-wrap: wrap; gap: 0.5rem 1.75rem; }
.steps ul { position: relative; display: grid; gap: 0.5rem; align-content: start; }
.steps ul + ul::before { content: "→"; position: absolute; left: -1.375rem; top: 0.5rem; color: var(--quiet); }
.steps li { padding: 0.375rem 0.75rem; border: 1px solid var(--line); border-radius: 0.5rem; }
.steps li small { display: block; color: inherit; }
.steps .present { border-color: var(--good); background: var(--good-ground); color: var(--good); box-shadow: 0 0 0 1px var(--good); }

.fields, form > details { display: grid; gap: 0.5rem; margin-bottom: 0.625rem; }
summary + .fields, section > form + details, section > details { margin-top: 0.5rem; }
.field { margin: 0; }
.field input, .field select { display: block; width: 100%; margin-top: 0.125rem; }
.problem { display: block; margin-top: 0.25rem; color: var(--alert); font-weight: 600; }
.filter > * { max-width: 100%; }
.filter [type="search"] { flex: 1 1 9rem; min-width: 0; }
button:hover { border-color: var(--accent); color: var(--accent); }
button.primary:not(td *):hover { color: var(--accent-ink); } /* In a table, each row would have a primary button. */
button.danger, summary.danger { border-color: var(--alert); color: var(--alert); font-weight: 600; }
button.danger { background: var(--alert-ground); }
summary.danger { display: inline-flex; align-items: center; list-style: none; }
summary.danger::-webkit-details-marker { display: none; }
.confirm p { max-width: 24rem; }
.copy { min-height: 1.75rem; padding: 0 0.5rem; font-size: 0.75rem; }
.actions .copy { min-height: 2.25rem; font-size: 0.875rem; }
@media (scripting: none) {
  .copy { display: none; }
  dd .middle, dd .middle::before { font-size: inherit; content: none; }
  dd .id bdi { white-space: normal; overflow-wrap: anywhere; }
}
@media (pointer: coarse) {
  input, select, button, summary.danger { min-height: 2.75rem; }
}
`
