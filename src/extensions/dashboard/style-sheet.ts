/**
 * The style sheet of the pages. Text colours have a contrast of 4.5 to 1, area colours of 3 to 1,
 * in light and in dark.
 */
export const STYLE_SHEET = `:root {
  color-scheme: light dark;
  --text: #17212b; --quiet: #56616d; --page: #f4f6f8; --card: #fff; --rule: #e1e5ea;
  --field: #7d8894; --link: #0b57a4; --hover: #f0f4f9; --top: #fff;
  --land: #e2e8ee; --good: #17794a; --middling: #9a5b00; --bad: #bd2a2a; --calm: #4a5663;
  --wash-good: #e3f4ea; --wash-middling: #fdf0d9; --wash-bad: #fde8e7; --wash-calm: #eceff3;
  --series-a: #2f6fb7; --series-b: #b0611a; --series-c: #2a8a6a; --series-d: #8a56ac;
  --series-e: #a8487a; --series-f: #71741d; --series-g: #5b6b7c;
  --shade-good: #d3eede; --shade-middling: #fbe9c4; --shade-bad: #f9d7d4; --on-shade: #17212b;
  --shadow: 0 1px 2px rgb(16 32 48 / 6%);
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e6ebf0; --quiet: #a3afbb; --page: #0f1419; --card: #182028; --rule: #2a343f;
    --field: #71808f; --link: #82baf6; --hover: #1f2932; --top: #141b22;
    --land: #2c3844; --good: #55c892; --middling: #e9ac48; --bad: #f57f77; --calm: #b4c0cc;
    --wash-good: #163325; --wash-middling: #3a2c11; --wash-bad: #43201f; --wash-calm: #26313c;
    --series-a: #5b9be0; --series-b: #dd8b44; --series-c: #45b592; --series-d: #b487d6;
    --series-e: #d976a8; --series-f: #b0b345; --series-g: #93a3b5;
    --shade-good: #1b4631; --shade-middling: #513e12; --shade-bad: #5c2725; --on-shade: #f2f5f8;
    --shadow: none;
  }
}
* { box-sizing: border-box }
html { scroll-padding-top: 7rem }
body {
  margin: 0; font: 14px/1.5 system-ui, -apple-system, 'Segoe UI', sans-serif;
  color: var(--text); background: var(--page); font-variant-numeric: tabular-nums;
}
main, .bar, nav { max-width: 1280px; margin: 0 auto; padding: 0 1.25rem }
main { padding-top: 1rem; padding-bottom: 2rem }
h1 { font-size: 1.6rem; line-height: 1.2; letter-spacing: -.01em; margin: 0; overflow-wrap: anywhere }
h2 { font-size: 1rem; margin: 0; overflow-wrap: anywhere }
h3 { font-size: .95rem; margin: 0; overflow-wrap: anywhere }
p { margin: 0 }
a { color: var(--link); text-decoration-thickness: 1px; text-underline-offset: 2px }
code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
.quiet, .meaning, .empty, footer { color: var(--quiet) }

.top { position: sticky; top: 0; z-index: 2; background: var(--top); border-bottom: 1px solid var(--rule) }
.bar { display: flex; align-items: center; gap: 1rem; padding-top: .6rem; padding-bottom: .4rem }
.brand { font-size: 1.05rem; font-weight: 650; letter-spacing: -.01em; white-space: nowrap;
  overflow: hidden; text-overflow: ellipsis }
.brand a { color: inherit; text-decoration: none }
.brand img { height: 1.5em; max-width: 8em; margin-right: .5rem; vertical-align: -.35em }
.chip { margin-left: auto; white-space: nowrap; font-size: .85rem }
.chip a { color: var(--text); text-decoration: none; display: inline-flex; align-items: center; gap: .45rem;
  padding: .2rem .65rem; border: 1px solid var(--rule); border-radius: 99px }
.chip a:hover { background: var(--hover) }
span.dot { flex: none; display: inline-block; width: .6rem; height: .6rem; border-radius: 50%; background: var(--calm) }
.green .dot { background: var(--good) }
.yellow .dot { background: var(--middling) }
.red .dot { background: var(--bad) }
nav { display: flex; gap: 1.25rem; overflow-x: auto; scrollbar-width: none }
nav a { flex: none; padding: .35rem 0 .5rem; color: var(--quiet); text-decoration: none;
  border-bottom: 2px solid transparent }
nav a:hover { color: var(--text) }
nav a[aria-current] { color: var(--text); font-weight: 600; border-color: var(--link) }

form { display: flex; gap: .5rem; align-items: center }
input, button, select {
  font: inherit; color: inherit; background: var(--card); padding: .35rem .6rem; min-width: 0;
  border: 1px solid var(--field); border-radius: 6px; max-width: 100%;
}
button { cursor: pointer; font-weight: 600 }
button:hover { background: var(--hover) }
input::placeholder { color: var(--quiet); opacity: 1 }
.search { flex: 1; max-width: 27rem }
.search input { flex: 1 }
main > .search { margin-top: 1rem }
.filters { flex-wrap: wrap; margin: 0 0 1rem }
.filters label { display: flex; max-width: 13rem }
.filters select { width: 100% }
.filters .chosen { border-color: var(--link); font-weight: 600 }
.scripted .filters button { display: none }
.chips { margin: 0 0 1rem }
a.chosen { color: var(--text); text-decoration: none; background: var(--wash-calm); padding: .25rem .65rem;
  border-radius: 99px }

.figures { display: grid; gap: .75rem; grid-template-columns: repeat(5, 1fr); margin-bottom: 1rem }
.figure, figure, .card {
  background: var(--card); border: 1px solid var(--rule); border-radius: 8px; box-shadow: var(--shadow);
}
.figure { position: relative; padding: .8rem 1rem; min-width: 0 }
.figure:hover { border-color: var(--field) }
.figure .label { font-size: .82rem; font-weight: 600 }
.figure .label a { color: var(--quiet); text-decoration: none }
.figure .label a::after { content: ''; position: absolute; inset: 0; border-radius: 8px }
.figure .value { font-size: 1.75rem; line-height: 1.25; font-weight: 650; letter-spacing: -.02em;
  min-height: 1.25em; overflow-wrap: anywhere }
.figure .note, .figure .light { font-size: .82rem; line-height: 1.4; color: var(--quiet) }
.figure .light .dot { display: none }
.value .unit { font-size: .55em; font-weight: 600; letter-spacing: 0; color: var(--quiet) }
.bad { color: var(--bad) }
.middling { color: var(--middling) }
.good { color: var(--good) }

.panels { display: grid; gap: .75rem; grid-template-columns: minmax(0, 1fr); align-items: start }
@media (min-width: 1000px) { .panels { grid-template-columns: repeat(2, minmax(0, 1fr)); align-items: stretch }
  .wide-panel { grid-column: 1 / -1 } }
/* Two lists beside each other have rows of one height: the hint and the container have the rest. */
@media screen and (min-width: 1000px) {
  .panels > :not(.wide-panel) .list td { white-space: nowrap }
  .panels > :not(.wide-panel) .list td, .panels > :not(.wide-panel) .list th { padding-right: .6rem }
  .panels > :not(.wide-panel) .list td:nth-last-child(-n+2) { max-width: 8rem; overflow: hidden; text-overflow: ellipsis }
  .panels > :not(.wide-panel) .list .sentence { max-width: 0; width: 100%; overflow: hidden; text-overflow: ellipsis }
}
figure, .card { margin: 0; padding: .9rem 1rem; min-width: 0 }
figure { display: flex; flex-direction: column }
.whole { padding-top: .4rem }
figcaption { margin-bottom: .5rem }
figcaption p { color: var(--quiet); font-size: .85rem }
.problem { color: var(--bad) }
.empty { padding: 1.2rem 0 }
.title { display: flex; align-items: baseline; gap: 1rem; justify-content: space-between; flex-wrap: wrap }
.meaning { margin: .2rem 0 1rem; max-width: 48rem }
.links { display: flex; gap: 1rem; font-size: .85rem; padding-top: .6rem }
figure > .links { margin-top: auto }
.links .all { margin-right: auto; font-weight: 600 }
.pages { display: flex; gap: 1rem; padding-top: .6rem; color: var(--quiet); font-size: .9rem }
.pages span { margin-right: auto }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .1rem 1rem; margin: 0 0 .2rem; padding: 0; font-size: .82rem }
.legend svg { width: .7em; height: .7em; margin-right: .4em; border-radius: 2px }
.picture { display: block; max-width: 100%; height: auto; font-size: 11px; color: var(--quiet) }
.picture text { white-space: pre }
.picture .text { color: var(--text) }
.picture a:hover rect, .picture a:hover path { opacity: .75 }
.narrow { display: none }
details { font-size: .9rem; color: var(--quiet) }
details table { color: var(--text) }
summary { cursor: pointer; font-size: .85rem }
main > details h2 { margin-top: 1rem; color: var(--text) }
main > details { margin-top: 1rem }
footer { margin-top: 1.5rem; font-size: .85rem }

.scrolled { overflow: auto }
details .scrolled { max-height: 22rem }
table { border-collapse: collapse; font-size: .86rem }
th, td { text-align: left; padding: .3rem .9rem .3rem 0; border-bottom: 1px solid var(--rule); vertical-align: top }
th { color: var(--quiet); font-weight: 600; white-space: nowrap }
th a { color: inherit; text-decoration: none }
th a:hover { text-decoration: underline }
th[aria-sort] { color: var(--text) }
td { white-space: nowrap }
.list { width: 100% }
.list td { padding-top: .38rem; padding-bottom: .38rem }
.list td:last-child, .list th:last-child { padding-right: 0 }
.list tbody tr:hover { background: var(--hover) }
.list tbody tr:last-child td { border-bottom: 0 }
.list td { white-space: normal }
.list .number, .list .right, .list time { white-space: nowrap }
.right { text-align: right }
a.number { font-weight: 600; text-decoration: none }
a.number:hover { text-decoration: underline }
a.narrows { color: inherit; text-decoration-color: var(--rule) }
a.narrows:hover { color: var(--link); text-decoration-color: currentcolor }
.unit { color: var(--quiet); font-size: .85em }
.badge { display: inline-block; padding: 0 .5rem; border-radius: 99px; font-size: .93em; font-weight: 600;
  white-space: nowrap; background: var(--wash-calm); color: var(--calm) }
.badge.bad { background: var(--wash-bad); color: var(--bad) }
.badge.middling { background: var(--wash-middling); color: var(--middling) }
.badge.good { background: var(--wash-good); color: var(--good) }

.light { display: flex; align-items: center; gap: .6rem }
h1 + .light { margin: .5rem 0 1rem }
.panels + .alerts { margin-top: 1rem }
.alerts { border-left: 4px solid var(--bad); padding: .2rem 0 .2rem 1rem; margin-bottom: 1rem }
.alerts ul { margin: .25rem 0; padding-left: 1.2rem; overflow-wrap: anywhere }

.container h1 .badge { font-size: .85rem; letter-spacing: 0; vertical-align: middle }
.container > * + * { margin-top: .75rem }
.container > .title + .quiet { margin-top: .15rem }
.container h2 { margin-bottom: .4rem }
.container figcaption h2 { margin-bottom: 0 }
.also { font-size: .9rem }
.matters { list-style: none; padding: 0; margin-bottom: 0; display: grid; gap: .3rem }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(12.5rem, 1fr)); gap: 1px; margin-bottom: 0;
  background: var(--rule); border: 1px solid var(--rule); border-radius: 8px; overflow: hidden; box-shadow: var(--shadow) }
.facts > div { background: var(--card); padding: .7rem 1rem }
.facts dt { font-size: .82rem; font-weight: 600; color: var(--quiet) }
.facts dd { margin: 0; font-size: 1.05rem; font-weight: 600; overflow-wrap: anywhere }
.facts small { display: block; font-size: .82rem; font-weight: 400; color: var(--quiet) }
.facts .badge { font-size: .82rem }
.stations { list-style: none; display: flex; margin: 0; padding: 1rem; overflow-x: auto; background: var(--card);
  border: 1px solid var(--rule); border-radius: 8px; box-shadow: var(--shadow) }
.station { flex: 1 0 11.5rem; position: relative; padding: 1.3rem 1rem 0 0 }
.station::before { content: ''; position: absolute; left: 0; top: 0; width: .85rem; height: .85rem; z-index: 1;
  border-radius: 50%; background: var(--card); border: 2px solid var(--field) }
.station::after { content: ''; position: absolute; left: 0; right: 0; top: .36rem; border-top: 2px dashed var(--field) }
.station:last-child::after { display: none }
.station.done::before { background: var(--good); border-color: var(--good) }
.station.done::after { border-top: 2px solid var(--good) }
.station.under-way::after { border-top: 2px dashed var(--link) }
.station.now::before { background: var(--link); border-color: var(--link); outline: 4px solid var(--wash-calm) }
.role { font-size: .78rem; color: var(--quiet) }
.role .state { font-weight: 600 }
.now .state { color: var(--link) }
.done .state { color: var(--good) }
.station ul { list-style: none; margin: .3rem 0 0; padding: 0; font-size: .82rem }
.station li { display: flex; gap: .5rem; justify-content: space-between; flex-wrap: wrap; max-width: 15rem }
.station li span { color: var(--quiet) }
.station li .clock { color: inherit }
.station .expected { font-style: italic }
.way { margin-top: .4rem; font-size: .82rem; font-weight: 600; color: var(--link) }

@media (max-width: 1000px) { .figures { grid-template-columns: repeat(6, 1fr) }
  .figure { grid-column: span 2 } .figure:nth-child(-n+2) { grid-column: span 3 } }
@media (max-width: 640px) {
  html { scroll-padding-top: 9rem }
  main, .bar, nav { padding-left: .75rem; padding-right: .75rem }
  figure, .card { padding: .8rem .7rem }
  .list { font-size: .82rem }
  .bar { flex-wrap: wrap; gap: .4rem .8rem }
  .bar .search { order: 3; flex-basis: 100%; max-width: none }
  .figures { gap: .5rem }
  .figure { grid-column: span 3; padding: .6rem .8rem }
  .figure:nth-child(5) { grid-column: span 6 }
  .figure .value { font-size: 1.4rem }
  .filters { display: grid; grid-template-columns: 1fr 1fr }
  .filters label { max-width: none }
  .wide, .extra { display: none }
  .narrow { display: block }
  .list td, .list th { padding-right: .6rem }
  .list td { white-space: nowrap }
  .list .sentence { white-space: normal; min-width: 8.5rem }
  .facts { grid-template-columns: 1fr 1fr }
  .stations { flex-direction: column; overflow: visible }
  .station { flex: none; padding: 0 0 1rem 1.6rem }
  .station:last-child { padding-bottom: 0 }
  .station::before { top: .2rem }
  .station::after, .station.done::after, .station.under-way::after { left: .36rem; right: auto; top: .4rem; bottom: 0;
    border-top: 0; border-left: 2px dashed var(--field) }
  .station.done::after { border-left: 2px solid var(--good) }
  .station.under-way::after { border-left: 2px dashed var(--link) }
  .station li { max-width: none }
}
@media print {
  @page { size: A4; margin: 12mm }
  :root { color-scheme: light; --page: #fff; --card: #fff; --top: #fff; --shadow: none; --text: #000; --quiet: #444; --rule: #ccc;
    --field: #888; --land: #e2e8ee; --link: #0b57a4; --good: #17794a; --middling: #9a5b00; --bad: #bd2a2a; --calm: #4a5663;
    --wash-good: #e3f4ea; --wash-middling: #fdf0d9; --wash-bad: #fde8e7; --wash-calm: #eceff3;
    --series-a: #2f6fb7; --series-b: #b0611a; --series-c: #2a8a6a; --series-d: #8a56ac;
    --series-e: #a8487a; --series-f: #71741d; --series-g: #5b6b7c;
    --shade-good: #d3eede; --shade-middling: #fbe9c4; --shade-bad: #f9d7d4; --on-shade: #17212b }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact }
  html { font-size: 11.5px }
  body { font-size: 10px; line-height: 1.35 }
  .picture { max-height: 12rem }
  .container .matters { gap: .1rem }
  .top { position: static }
  .bar { padding-top: 0 }
  nav, .search, .filters, .links, details, .pages a { display: none }
  main, .bar { padding: 0; max-width: none }
  main { padding-top: .5rem; padding-bottom: 0 }
  .wide { display: block } .narrow { display: none }
  .figures { grid-template-columns: repeat(5, 1fr); gap: .4rem }
  .figure, .figure:nth-child(n) { grid-column: auto; padding: .4rem .6rem }
  .figure .value { font-size: 1.2rem }
  .panels { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: .4rem }
  .panels > .wide-panel, .panels > :has(.list) { grid-column: 1 / -1 }
  figure, .card { padding: .5rem .6rem; break-inside: avoid }
  .container > * + * { margin-top: .3rem }
  .container th, .container td { padding-top: .1rem; padding-bottom: .1rem }
  .container #timeline { display: none }
  .facts { grid-template-columns: repeat(3, 1fr) }
  .facts > div { padding: .3rem .6rem }
  .stations { padding: .6rem; overflow: hidden }
  .station { flex: 1 1 0; padding-right: .5rem }
  .station li { justify-content: flex-start; gap: 0 .3rem }
  a { color: inherit; text-decoration: none }
  footer { margin-top: .5rem }
}
`
