import { palette } from '../pages/style.ts'

/** The style of the panel. The Content-Security-Policy contains the hash of this style, so no other style applies. */
export const style = `${palette}
html { scroll-padding-block: 8rem 1rem; }
body { margin: 0; padding: 0 1rem 3rem; background: var(--ground); color: var(--ink); font: 0.9375rem/1.45 var(--font); font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
h1 { margin: 0; font-size: 1.25rem; line-height: 1.25; }
h2 { margin: 0 0 0.625rem; font-size: 1rem; line-height: 1.25; }
h2:focus { outline: none; }
p { margin: 0.375rem 0; }
a { color: var(--accent); }
small, .quiet { color: var(--quiet); font-size: 0.8125rem; }
.heard { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

header { position: sticky; top: 0; z-index: 1; margin: 0 -1rem; padding: 0 1rem; background: var(--ground); }
.bar { display: flex; flex-wrap: wrap; align-items: center; gap: 0.375rem 1rem; padding: 0.75rem 0; }
.bar p { margin: 0; }
.mock { padding: 0.125rem 0.625rem; border-radius: 1rem; background: var(--note-ground); color: var(--note); font-size: 0.8125rem; }
.bar .mock { margin-right: auto; }
nav { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; flex: 1 0 100%; }
.live { color: var(--good); font-size: 0.8125rem; font-weight: 600; }
.live::before { content: "●"; margin-right: 0.375rem; }
.live.lost { color: var(--alert); }
#notice { font-weight: 600; }
#notice p { margin: 0; padding: 0.625rem 0.875rem; border-radius: 0.625rem; }
[hidden] { display: none; }
[role="search"] > * { flex: 0 1 10rem; min-width: 5rem; }
#notice:not(:empty) { padding-bottom: 0.75rem; }
.done p { background: var(--good-ground); color: var(--good); }
.alert p { background: var(--alert-ground); color: var(--alert); }
/* On a phone a sticky header would take too much height, so it scrolls away, and the notice is at the bottom. */
@media (max-width: 47.99rem) {
  html { scroll-padding-block: 0.5rem 7rem; }
  header { position: static; }
  #notice { position: fixed; inset: auto 1rem 0; z-index: 1; pointer-events: none; }
  #notice p { box-shadow: 0 2px 10px rgb(0 0 0 / 0.15); }
  body { padding-bottom: 7rem; }
}

.columns, .columns > div { display: grid; gap: 1rem; align-items: start; min-width: 0; }
@media (min-width: 48rem) {
  .columns { grid-template-columns: 18rem minmax(0, 1fr); }
}
section { min-width: 0; padding: 1rem; border: 1px solid var(--line); border-radius: 0.875rem; background: var(--card); }
.count { margin-left: 0.25rem; color: var(--quiet); font-weight: 400; }
.clock { margin: 0 0 0.25rem; font-size: 1.125rem; font-weight: 650; }
.rows { margin: 0; padding: 0; list-style: none; }
.rows > li { padding: 0.625rem 0; border-top: 1px solid var(--line); }
.rows > li:first-child { padding-top: 0; border-top: 0; }
.rows > li:last-child { padding-bottom: 0; }
.heading { margin: 0; }
table { width: 100%; margin-top: 0.75rem; border-collapse: collapse; }
th { padding: 0 0.75rem 0.375rem 0; color: var(--quiet); font-size: 0.8125rem; font-weight: 400; text-align: left; }
td { padding: 0.5rem 0.75rem 0.5rem 0; border-top: 1px solid var(--line); vertical-align: top; }
td:last-child { padding-right: 0; }
td small { display: block; }
td .actions { margin: 0; }
.cycles { margin: 0; padding: 0; list-style: none; }
.cycles li { white-space: nowrap; }
/* On a phone each cell is a line, and starts with the heading of its column. */
@media (max-width: 63.99rem) {
  table, tbody, tr, td { display: block; }
  thead { display: none; }
  tr { padding: 0.5rem 0; border-top: 1px solid var(--line); }
  td { padding: 0.125rem 0; border: 0; }
  td:empty, td[data-heading="Actions"]::before { display: none; }
  td[data-heading]::before { content: attr(data-heading) " "; color: var(--quiet); font-size: 0.8125rem; }
}
code, pre { font: 0.8125rem/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.facts { display: grid; gap: 0.25rem; margin: 0.5rem 0; }
.facts dt { min-width: 9rem; }
.copy { min-height: 1.75rem; margin-left: 0.25rem; padding: 0 0.5rem; font-size: 0.75rem; }
figure { margin: 1rem 0 0; }
.drawing { overflow-x: auto; }
svg path { fill: none; stroke: var(--field); stroke-width: 1.5; }
marker path { fill: var(--field); stroke: none; }
svg circle { fill: var(--ink); }
svg rect { fill: var(--ground); stroke: var(--field); }
svg text { fill: var(--ink); font: 600 12px var(--font); text-anchor: middle; }
svg .event { fill: var(--quiet); font-weight: 400; text-anchor: end; paint-order: stroke; stroke: var(--card); stroke-width: 4px; }
svg .present rect { fill: var(--good-ground); stroke: var(--good); stroke-width: 3px; }
svg .present text { fill: var(--good); }
.pill { display: inline-block; padding: 0 0.5rem; border-radius: 1rem; background: var(--ground); color: var(--quiet); font-size: 0.8125rem; font-weight: 600; white-space: nowrap; }
.pill.good { background: var(--good-ground); color: var(--good); }
.pill.waiting { background: var(--note-ground); color: var(--note); }
.pill.bad { background: var(--alert-ground); color: var(--alert); }
dl { display: flex; flex-wrap: wrap; gap: 0.125rem 1rem; margin: 0.25rem 0 0; font-size: 0.8125rem; }
dl div { display: flex; flex-wrap: wrap; gap: 0 0.375rem; }
dt { color: var(--quiet); }
dd { margin: 0; }
.actions { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem; margin-top: 0.5rem; }
.actions p { margin: 0 auto 0 0; }
.moves { display: grid; grid-template-columns: 1fr 1fr; gap: 0.5rem; margin-top: 0.5rem; }
.moves button { width: 100%; }
#faults > li:not(.quiet), #receivers > li:not(.quiet), #snapshots > li:not(.quiet) { display: flex; flex-wrap: wrap; align-items: center; gap: 0.375rem 0.5rem; }
.rows .heading { margin-right: auto; }
.rows .actions { margin: 0; }
.pages, .fields, #reset, #by-hand { margin-top: 0.75rem; padding-top: 0.75rem; border-top: 1px solid var(--line); }
.pages { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.25rem 1rem; }
.pages span:first-child { margin-right: auto; }
.pages:empty { display: none; }

form { margin: 0; }
.inline, .fields { display: flex; flex-wrap: wrap; align-items: end; gap: 0.5rem; }
h2 + .fields { margin-top: 0; padding-top: 0; border-top: 0; }
.fields p { flex: 1 0 100%; margin: 0; }
.fields button { flex: 1 1 auto; }
label { flex: 1 1 4.5rem; color: var(--quiet); font-size: 0.8125rem; }
label.wide { flex-basis: 10rem; }
label input, label select { display: block; width: 100%; margin-top: 0.125rem; }
input, select, button { min-height: 2.25rem; max-width: 100%; padding: 0.25rem 0.625rem; border: 1px solid var(--field); border-radius: 0.5rem; background: var(--card); color: var(--ink); font: inherit; font-size: 0.875rem; }
button { border-color: var(--accent); color: var(--accent); font-weight: 600; cursor: pointer; }
button:hover { background: var(--accent); color: var(--accent-ink); }
@media (pointer: coarse) {
  input, select, button { min-height: 2.75rem; }
}
summary { cursor: pointer; }
summary strong { word-break: break-all; }
pre { margin: 0.125rem 0 0.5rem; padding: 0.5rem 0.75rem; border-radius: 0.5rem; background: var(--ground); white-space: pre-wrap; }
`
