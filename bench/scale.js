/**
 * What one, a hundred, ten thousand and a million accounts ask of the program, on paper: requests,
 * rows, bytes, processor time, and a simulation of workers that share the accounts. Asks no service
 * and no database; the same figures every time. docs/scale.md shows the tables and says what bends.
 *
 *   node bench/scale.js          the tables of docs/scale.md
 *   node bench/scale.js --json   the same as one JSON document
 */
import { pathToFileURL } from 'node:url'

/** Measured, with the figure that says so (docs/performance.md). */
export const MEASURED = {
  /** Records of a container: itself, half a shipment, its transport events (B1: 60,000). */
  recordsPerContainer: 16.25,
  /** Containers on a list page of 100 shipments, each list of a pass counted (B1: 633 pages). */
  containersPerPage: 95,
  /** Requests of a sync of 30 shipments in which nothing changed. */
  requestsPerSync: 2,
  /** Seconds of processor time of that sync, connector and database, in a process of its own. */
  cpuSecondsPerSync: 0.5,
  /** µs of connector and database a record that did not change (B5, B15). */
  unchangedUs: 38,
  /** µs of connector and database a record that is new (B3). */
  loadedUs: 97,
  /** Requests beyond list pages for each container that changed (B2, at its worst). */
  requestsPerChange: 1,
  /** Bytes of a container with its events and histories, indexes included (B12). */
  bytesPerContainer: 8_500,
  /** WAL of that sync, and of each page more (B6: 64.5 KB over 633 pages). */
  walPerSync: 6_000,
  walPerPage: 92,
  /** WAL of a record that is written, with its indexes and its version (B4's load). */
  walPerRecord: 900,
  /** Memory of a process (B7). It does not grow with the account. */
  megabytesPerProcess: 215,
  /** Deliveries a second that one receiver stores (B8). */
  deliveriesPerSecond: 1_000,
  /** Tables, indexes and views of an account; their bytes and those of the catalogue for them. */
  relationsPerAccount: 290,
  catalogueBytesPerAccount: 7_340_000,
}

/** Assumed, because every account is different. */
export const ASSUMED = {
  /** A sync an hour. */
  syncsPerDay: 24,
  /** One of them reads the whole account, the others what can still change. */
  activeShare: 0.12,
  /** Changes of a container that is on its way. */
  changesPerActiveContainerPerDay: 3,
  /** Records that a change writes: the container, an event, a child. */
  recordsPerChange: 3,
  /** A request and its answer, and how many are on their way at once. */
  secondsPerRequest: 0.35,
  requestsAtOnce: 4,
  /** What the service allows an account. */
  requestsPerMinute: 100,
  /** Of a core, so that peaks fit. */
  busyShare: 0.5,
  /** What one PostgreSQL should hold: more can be had, but backups and vacuum take hours. */
  bytesPerServer: 2e12,
  relationsPerServer: 1_000_000,
}

const SCENARIOS = [
  { accounts: 1, containers: 60_000 },
  { accounts: 100, containers: 6_000 },
  { accounts: 10_000, containers: 600 },
  { accounts: 1_000_000, containers: 60 },
]

const DAY = 86_400

/** One account: what its syncs of a day take. */
export function dayOf(containers, { measured = MEASURED, assumed = ASSUMED } = {}) {
  const active = containers * assumed.activeShare
  const pages = (count) => Math.ceil(count / measured.containersPerPage)
  const changes = active * assumed.changesPerActiveContainerPerDay
  const partial = assumed.syncsPerDay - 1
  const seen = measured.recordsPerContainer * (partial * active + containers)
  const written = changes * assumed.recordsPerChange
  const listPages = partial * pages(active) + pages(containers)
  const requests =
    assumed.syncsPerDay * measured.requestsPerSync +
    listPages +
    changes * measured.requestsPerChange
  return {
    requests,
    written,
    deliveries: changes,
    cpuSeconds:
      assumed.syncsPerDay * measured.cpuSecondsPerSync +
      (seen * measured.unchangedUs + written * measured.loadedUs) / 1e6,
    walBytes:
      assumed.syncsPerDay * measured.walPerSync +
      listPages * measured.walPerPage +
      written * measured.walPerRecord,
    bytes: containers * measured.bytesPerContainer + measured.catalogueBytesPerAccount,
    /** Of one sync of what can change. */
    syncSeconds: secondsOf(
      measured.requestsPerSync +
        pages(active) +
        (changes / assumed.syncsPerDay) * measured.requestsPerChange,
      assumed,
    ),
  }
}

/** Requests wait for answers first, and from the hundredth on for the service's budget. */
function secondsOf(requests, assumed) {
  const answered = (requests * assumed.secondsPerRequest) / assumed.requestsAtOnce
  const allowed =
    (Math.max(0, requests - assumed.requestsPerMinute) * 60) / assumed.requestsPerMinute
  return Math.max(answered, allowed)
}

/** How many accounts a worker works on at once (`ACCOUNTS_AT_ONCE`). */
const PLACES_OF_WORKER = 8

/** Accounts differ: most are small, a few are large. Log-normal with this spread, same mean. */
const SPREAD = 1

/**
 * Workers that share accounts: each account falls due every period at a phase of its own, and is
 * read by the first free place of a worker, those that are due longest first. Says how late the
 * syncs began. A worker that dies gives its accounts back within a minute, which the simulation
 * leaves out: it moves a start by less than the noise.
 */
export function simulateWorkers({ accounts, containers, places, periods = 3, seed = 1 }) {
  const period = DAY / ASSUMED.syncsPerDay
  const random = randomFrom(seed)
  const durations = new Float64Array(accounts)
  const due = new Float64Array(accounts)
  for (let account = 0; account < accounts; account += 1) {
    const size = containers * Math.exp(SPREAD * normal(random) - SPREAD ** 2 / 2)
    // A core that all places of its worker share: nobody is faster than that.
    const { syncSeconds, cpuSeconds } = dayOf(size)
    const cpuOfSync = (cpuSeconds / ASSUMED.syncsPerDay) * PLACES_OF_WORKER
    durations[account] = Math.max(syncSeconds, cpuOfSync)
    due[account] = random() * period
  }
  const order = Array.from(due.keys()).sort((one, other) => due[one] - due[other])
  // Every account falls due once a period and in the same order, so a queue needs no sorting.
  const free = new Heap(places)
  const late = new Float64Array(accounts * periods)
  let at = 0
  for (let round = 0; round < periods; round += 1) {
    for (const account of order) {
      const dueAt = due[account] + round * period
      const startAt = Math.max(dueAt, free.least())
      free.replaceLeast(startAt + durations[account])
      late[at] = startAt - dueAt
      at += 1
    }
  }
  late.sort()
  const within = late.findLastIndex((seconds) => seconds <= period) + 1
  return {
    onTimeShare: within / late.length,
    lateP99Seconds: late[Math.floor(late.length * 0.99)],
  }
}

/** Ends of work of all places, the earliest on top. */
class Heap {
  #values
  constructor(size) {
    this.#values = new Float64Array(size)
  }
  least() {
    return this.#values[0]
  }
  replaceLeast(value) {
    const values = this.#values
    let place = 0
    for (;;) {
      let child = 2 * place + 1
      if (child >= values.length) break
      if (child + 1 < values.length && values[child + 1] < values[child]) child += 1
      if (values[child] >= value) break
      values[place] = values[child]
      place = child
    }
    values[place] = value
  }
}

/** The same numbers for the same seed (mulberry32). */
function randomFrom(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function normal(random) {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

/** Of more accounts a part is simulated, with the same part of the places. */
const SIMULATED_ACCOUNTS = 50_000

/** Everything docs/scale.md shows. */
export function scale() {
  const { busyShare, bytesPerServer, relationsPerServer, syncsPerDay } = ASSUMED
  const period = DAY / syncsPerDay
  return SCENARIOS.map(({ accounts, containers }) => {
    const day = dayOf(containers)
    const cpuSeconds = accounts * day.cpuSeconds
    const cores = cpuSeconds / DAY / busyShare
    const placesByTime = (accounts * day.syncSeconds) / period / busyShare
    const workers = Math.max(1, Math.ceil(cores), Math.ceil(placesByTime / PLACES_OF_WORKER))
    const bytes = accounts * day.bytes
    const relations = accounts * MEASURED.relationsPerAccount
    const few = Math.max(1, Math.floor(workers / 4))
    const part = Math.min(1, SIMULATED_ACCOUNTS / accounts)
    const simulatePart = (of) =>
      simulateWorkers({
        accounts: accounts * part,
        containers,
        places: Math.ceil(of * PLACES_OF_WORKER * part),
      })
    return {
      accounts,
      containers,
      requestsPerSecond: (accounts * day.requests) / DAY,
      requestsOfAccountPerMinute: day.requests / (DAY / 60),
      rowsWrittenPerDay: accounts * day.written,
      walGigabytesPerDay: (accounts * day.walBytes) / 1e9,
      deliveriesPerSecond: (accounts * day.deliveries) / DAY,
      gigabytes: bytes / 1e9,
      relations,
      cores,
      workers,
      memoryGigabytes: (workers * MEASURED.megabytesPerProcess) / 1e3,
      servers: Math.max(
        Math.ceil(bytes / bytesPerServer),
        Math.ceil(relations / relationsPerServer),
      ),
      syncSeconds: day.syncSeconds,
      simulated: simulatePart(workers),
      simulatedQuarter: simulatePart(few),
    }
  })
}

/** The largest account whose hourly sync the service's own limit allows. */
export function largestAccount() {
  let containers = 1_000
  const period = DAY / ASSUMED.syncsPerDay
  while (dayOf(containers * 1.01).syncSeconds <= period) containers *= 1.01
  return Math.floor(containers)
}

const ROWS = [
  ['containers of an account', (one) => count(one.containers)],
  ['requests a second, all accounts', (one) => round(one.requestsPerSecond)],
  ['of one account a minute, of 100 allowed', (one) => round(one.requestsOfAccountPerMinute)],
  ['seconds of one sync', (one) => round(one.syncSeconds)],
  ['rows written a day', (one) => count(one.rowsWrittenPerDay)],
  ['WAL a day, GB', (one) => round(one.walGigabytesPerDay)],
  ['notifications a second', (one) => round(one.deliveriesPerSecond)],
  ['warehouse, GB', (one) => round(one.gigabytes)],
  ['tables, indexes and views', (one) => count(one.relations)],
  ['cores, half busy', (one) => round(one.cores)],
  [`workers of ${PLACES_OF_WORKER} accounts at once`, (one) => count(one.workers)],
  ['their memory, GB', (one) => round(one.memoryGigabytes)],
  ['PostgreSQL servers', (one) => count(one.servers)],
  ['simulated: syncs begun within a period', (one) => share(one.simulated.onTimeShare)],
  ['… one in a hundred begins later than, s', (one) => count(one.simulated.lateP99Seconds)],
  [
    '… with a quarter of the workers, at least one',
    (one) => share(one.simulatedQuarter.onTimeShare),
  ],
]

/** The table of docs/scale.md. */
export function formatScale(scenarios) {
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [
    line(['accounts', ...scenarios.map((one) => count(one.accounts))]),
    line(['---', ...scenarios.map(() => '---:')]),
    ...ROWS.map(([name, cell]) => line([name, ...scenarios.map((one) => cell(one))])),
  ].join('\n')
}

const count = (value) => Math.round(value).toLocaleString('en-US')
const share = (value) => `${(Math.floor(value * 1000) / 10).toFixed(1)} %`

/** Two digits that count. */
function round(value) {
  if (value >= 100) return count(Number(value.toPrecision(2)))
  return String(Number(value.toPrecision(2)))
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const scenarios = scale()
  const text = process.argv.includes('--json')
    ? JSON.stringify({ measured: MEASURED, assumed: ASSUMED, scenarios }, null, 2)
    : `${formatScale(scenarios)}\n\nlargest account with an hourly sync: ${count(largestAccount())} containers`
  process.stdout.write(`${text}\n`)
}
