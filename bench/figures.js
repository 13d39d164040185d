/**
 * What is measured, what it must reach and what comes after that: the figures of
 * docs/performance.md, in one place.
 */

/** `reach` and `then` are upper bounds, lower ones where `isMoreBetter`. */
export const FIGURES = {
  'B0 first load': { what: 'requests of a first load', reach: 75, then: 75 },
  'B0 unchanged': { what: 'requests of a sync in which nothing changed', reach: 8, then: 8 },
  'B0 changed': { what: 'requests of a sync after 1 % changed', reach: 10, then: 10 },
  'B0 complete': { what: 'requests of the complete sync of each day', reach: 66, then: 66 },
  'B1 requests': { what: 'unchanged sync, requests beyond its list pages', reach: 0, then: 0 },
  'B2 included': { what: 'requests per changed container, events included', reach: 0.5, then: 0.1 },
  'B2 asked for': {
    what: 'requests per changed container, events asked for',
    reach: 0.5,
    then: 0.1,
  },
  'B3 backfill': { what: 'backfill, CPU against its floor', unit: '×', reach: 2.5, then: 2 },
  'B4 others': {
    what: 'backfill, CPU of the fastest other tool against ours',
    unit: '×',
    reach: 1.5,
    then: 2,
    isMoreBetter: true,
  },
  'B5 unchanged': {
    what: 'unchanged sync, CPU of connector and database against its floor',
    unit: '×',
    reach: 2,
    then: 1.5,
  },
  'B6 WAL': { what: 'WAL of an unchanged sync', unit: 'KB', reach: 20, then: 20 },
  'B7 memory': { what: 'peak RSS of a backfill', unit: 'MB', reach: 190, then: 150 },
  'B8 answer': { what: 'webhook answered at 200/s, p99', unit: 'ms', reach: 15, then: 15 },
  'B8 rate': {
    what: 'webhooks taken, none lost',
    unit: '/s',
    reach: 1500,
    then: 2000,
    isMoreBetter: true,
  },
  'B9 row': { what: 'change to row at 50/s, p95', unit: 'ms', reach: 150, then: 150 },
  'B10 CPU': { what: 'ten times the account, CPU', unit: '×', reach: 10.2, then: 10.2 },
  'B10 memory': { what: 'ten times the account, peak RSS', unit: '×', reach: 1.05, then: 1.05 },
  'B11 help': { what: '--help', unit: 'ms', reach: 100, then: 100 },
  'B11 sync': {
    what: 'sync with nothing to do, warm embedded database',
    unit: 'ms',
    reach: 800,
    then: 800,
  },
  'B12 filtered': { what: 'slowest view, filtered', unit: 'ms', reach: 500, then: 200 },
  'B12 whole': { what: 'slowest view, whole', unit: 'ms', reach: 5000, then: 3000 },
  'B14 first': {
    what: 'slowest question right after a first load',
    unit: 'ms',
    reach: 1000,
    then: 500,
  },
  'B15 memory': { what: 'ten million events, peak RSS', unit: 'MB', reach: 300, then: 200 },
  'B15 CPU': {
    what: 'ten million events, CPU a record against that of a small account',
    unit: '×',
    reach: 1.1,
    then: 1,
  },
  'B15 question': {
    what: 'ten million events, slowest question about a container',
    unit: 'ms',
    reach: 1000,
    then: 500,
  },
  'B17 waits': {
    what: 'waits for the database in a backfill of 280 shipments',
    reach: 150,
    then: 60,
  },
  'B18 memory': { what: 'export of transport events, peak RSS', unit: 'MB', reach: 500, then: 350 },
  'B18 rate': {
    what: 'export of transport events, rows a second',
    unit: '/s',
    reach: 50_000,
    then: 100_000,
    isMoreBetter: true,
  },
}

/**
 * A figure as it is reported. `runs`: the values of all runs, of which the median counts unless
 * `value` is given. `beside`: what stands beside it (`what`, `value`), a floor or another tool,
 * measured in the same run; `ratio` is the value over that unless given. `note`: what a reader must
 * know.
 */
export function figure(id, { runs = [], value = median(runs), beside, ratio, note }) {
  const { reach, isMoreBetter = false } = FIGURES[id]
  const quotient = ratio ?? (beside === undefined ? undefined : value / beside.value)
  return {
    id,
    ...FIGURES[id],
    value: shorten(value),
    isReached: isMoreBetter ? value >= reach : value <= reach,
    ...(beside === undefined ? {} : { beside: { ...beside, value: shorten(beside.value) } }),
    ...(quotient === undefined ? {} : { ratio: shorten(quotient) }),
    ...(runs.length > 1 ? { spread: spreadOf(runs) } : {}),
    ...(note === undefined ? {} : { note }),
  }
}

function spreadOf(runs) {
  return {
    min: shorten(Math.min(...runs)),
    median: shorten(median(runs)),
    max: shorten(Math.max(...runs)),
    runs: runs.length,
  }
}

export function median(numbers) {
  const sorted = numbers.toSorted((one, two) => one - two)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** Three significant digits are more than a shared machine can tell. */
export function shorten(number) {
  return Math.abs(number) >= 100 ? Math.round(number) : Number(number.toPrecision(3))
}
