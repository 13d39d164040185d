/**
 * The dashboard's style sheet. Text colours have a contrast of 4.5 to 1, area colours of 3 to 1, in
 * light and in dark.
 */
export const STYLE_SHEET = `:root {
  color-scheme: light dark;
  --text: #1d2733; --quiet: #55606e; --page: #f6f7f9; --card: #fff; --rule: #d7dce2;
  --link: #0b5cad; --good: #1a7f4b; --middling: #a86400; --bad: #c22f2f;
  --series-a: #2f6fb7; --series-b: #b0611a; --series-c: #2a8a6a; --series-d: #8a56ac;
  --series-e: #a8487a; --series-f: #71741d; --series-g: #5b6b7c;
  --shade-good: #cdebd8; --shade-middling: #fbe6b8; --shade-bad: #f8d0cd; --on-shade: #1d2733;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e4e9ef; --quiet: #a9b4c0; --page: #12171d; --card: #1b222b; --rule: #38424e;
    --link: #7db8f5; --good: #4cc38a; --middling: #e2a336; --bad: #f2736b;
    --series-a: #5b9be0; --series-b: #dd8b44; --series-c: #45b592; --series-d: #b487d6;
    --series-e: #d976a8; --series-f: #b0b345; --series-g: #93a3b5;
    --shade-good: #1f5238; --shade-middling: #5e4711; --shade-bad: #6b2826; --on-shade: #f2f5f8;
  }
}
* { box-sizing: border-box }
body {
  margin: 0 auto; padding: 1rem; max-width: 1280px;
  font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page);
}
h1 { font-size: 1.25rem; margin: 0 0 .5rem }
h2 { font-size: 1.1rem; margin: 1.5rem 0 .5rem }
h3 { font-size: 1rem; margin: 0; overflow-wrap: anywhere }
a { color: var(--link) }
code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px }
.light { display: flex; align-items: center; gap: .6rem; font-size: 1.1rem; margin: 0 }
.light span { flex: none; width: 1rem; height: 1rem; border-radius: 50% }
.green span { background: var(--good) }
.yellow span { background: var(--middling) }
.red span { background: var(--bad) }
.alerts { border-left: 4px solid var(--bad); padding-left: 1rem; margin-top: 1rem }
.alerts h2 { margin: 0 }
.alerts ul { margin: .25rem 0; padding-left: 1.2rem; overflow-wrap: anywhere }
form { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center }
input, button {
  font: inherit; color: inherit; background: var(--card); padding: .3rem .6rem;
  border: 1px solid var(--quiet); border-radius: 4px; max-width: 100%;
}
.panels { display: grid; gap: 1rem; grid-template-columns: 1fr }
@media (min-width: 1000px) { .panels { grid-template-columns: 1fr 1fr } }
figure {
  margin: 0; padding: .8rem; min-width: 0; background: var(--card);
  border: 1px solid var(--rule); border-radius: 6px;
}
.search figure { margin-top: .8rem }
figcaption p, .empty, .links, details { color: var(--quiet); font-size: .9rem }
figcaption p { margin: .2rem 0 .6rem }
.problem { color: var(--bad) }
.links { margin: .4rem 0 0 }
.links a { margin-right: 1rem }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1rem; margin: 0; padding: 0 }
.legend { font-size: .85rem }
.legend svg { width: .8em; height: .8em; margin-right: .35em }
.picture { display: block; max-width: 100%; height: auto; font-size: 11px }
.picture text { white-space: pre }
.narrow { display: none }
@media (max-width: 640px) {
  .wide { display: none }
  .narrow { display: block }
}
.scrolled { overflow: auto; max-height: 20rem }
table { border-collapse: collapse; font-size: .85rem }
th, td { text-align: left; padding: .15rem .8rem .15rem 0; border-bottom: 1px solid var(--rule) }
td { font-variant-numeric: tabular-nums; white-space: nowrap }
figure > .scrolled { max-height: none }
figure > .scrolled td { vertical-align: top }
figure > .scrolled td:last-child { white-space: normal }
summary { cursor: pointer }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
footer { color: var(--quiet); margin-top: 1.5rem }
`
