/** The style of every page: colors for light and dark mode, whose contrast meets WCAG AA, and the looks of elements. */
export const base = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f3f4f8, #11141c);
  --card: light-dark(#ffffff, #1b1f2b);
  --ink: light-dark(#1b1f2a, #eceef5);
  --quiet: light-dark(#545b6d, #aab1c3);
  --line: light-dark(#dcdfe8, #343a4c);
  --field: light-dark(#848b9c, #838ba3);
  --accent: light-dark(#2b4acb, #a9b9ff);
  --accent-ink: light-dark(#ffffff, #10183d);
  --good: light-dark(#14602f, #93e2ae);
  --good-ground: light-dark(#e1f4e7, #12351f);
  --alert: light-dark(#a3152c, #ffb3bd);
  --alert-ground: light-dark(#fdecee, #43161f);
  --note: light-dark(#6b4300, #ffdf9e);
  --note-ground: light-dark(#fff3d6, #3a2b0c);
}
* { box-sizing: border-box; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; }
body { margin: 0; padding: 1rem; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; font-variant-numeric: tabular-nums; }
h1 { margin: 0.5rem 0; font-size: 1.375rem; line-height: 1.25; }
h2 { margin: 1.5rem 0 0.5rem; font-size: 1rem; }
p { margin: 0.375rem 0; }
a { color: var(--accent); }
code, pre { font: 0.8125rem/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { margin: 0.125rem 0 0.5rem; padding: 0.5rem 0.75rem; border-radius: 0.5rem; background: var(--ground); overflow: auto; }
dl, dd, form { margin: 0; }
dt, .quiet { color: var(--quiet); }
label { display: block; }
summary, button { cursor: pointer; }
input, select, button, summary.danger { min-height: 2.25rem; max-width: 100%; padding: 0.25rem 0.625rem; border: 1px solid var(--field); border-radius: 0.5rem; background: var(--card); color: var(--ink); font: inherit; font-size: 0.875rem; }
[aria-invalid="true"] { border-color: var(--alert); border-width: 2px; }
button { font-weight: 600; white-space: nowrap; }
button.primary:not(td *), .button { border-color: var(--accent); background: var(--accent); color: var(--accent-ink); }
button.primary:not(td *):hover, .button:hover { filter: brightness(1.1); }
main, section, article { border: 1px solid var(--line); border-radius: 0.875rem; background: var(--card); }
.mock { padding: 0.125rem 0.625rem; border-radius: 1rem; background: var(--note-ground); color: var(--note); font-size: 0.8125rem; }
.alert { background: var(--alert-ground); color: var(--alert); font-weight: 600; }
/* A word that is too long for its place is cut with "…", never broken. */
bdi { display: inline-block; max-width: 100%; overflow: hidden; text-overflow: ellipsis; vertical-align: bottom; }
a bdi { text-decoration: inherit; }
`

/** The style of the payer's pages. The Content-Security-Policy allows only the hash of this style. */
export const style = `${base}
.mock { max-width: 27rem; margin: 0 auto; padding: 0.5rem 1rem; border-radius: 0.75rem; font-size: 0.875rem; text-align: center; }
main { max-width: 27rem; margin: 4vh auto 1rem; padding: 1.5rem; }
.amount { margin: 1.25rem 0; font-size: 2rem; font-weight: 650; line-height: 1.2; }
.amount small { display: block; color: var(--quiet); font-size: 0.9375rem; font-weight: 400; }
dl { border-top: 1px solid var(--line); }
dl div { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; padding: 0.5rem 0; border-bottom: 1px solid var(--line); }
ol { display: flex; flex-wrap: wrap; gap: 0.5rem; margin: 0; padding: 0; list-style: none; }
ol li { padding: 0.125rem 0.625rem; border: 1px solid var(--line); border-radius: 0.5rem; font-size: 0.9375rem; }
form { margin-top: 1.5rem; }
label { margin-bottom: 0.375rem; font-weight: 600; }
input { width: 100%; min-height: 3rem; font-size: 1.25rem; letter-spacing: 0.2em; }
button, .button { display: block; width: 100%; min-height: 3rem; margin-top: 0.75rem; padding: 0.6875rem 1rem; border-radius: 0.625rem; border-color: var(--accent); font-size: 1rem; font-weight: 600; text-align: center; text-decoration: none; }
button.plain { background: transparent; color: var(--accent); }
.back { margin-top: 1.25rem; text-align: center; }
.alert { margin: 1rem 0 0; padding: 0.625rem 0.875rem; border-radius: 0.625rem; }
`
