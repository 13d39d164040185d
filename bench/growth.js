/**
 * What ten times the account costs: processor time of connector and database, and memory of the
 * connector, of a backfill and of the unchanged sync after it, at one size and at ten times that
 * size. Processor time is divided by the records that really came, which are not exactly ten times
 * as many.
 *
 *   node bench/growth.js [shipments of the smaller account, 3000 unless told]
 */
import {
  CONNECTOR,
  connect,
  countRows,
  openDatabase,
  runBench,
  runMeasured,
  START,
  startService,
} from './bench-world.js'
import { figure } from './figures.js'
import { readServerCpuMs } from './processor-time.js'

const SMALLER = Number(process.argv[2] ?? 3000)

await runBench(async () => {
  const databaseUrl = await openDatabase()
  const smaller = await measure(databaseUrl, 'smaller', SMALLER)
  const larger = await measure(databaseUrl, 'larger', 10 * SMALLER)
  const growth = ({ name, of }) => (10 * of(larger[name])) / of(smaller[name])
  const cpu = (name) => growth({ name, of: ({ cpuMs, records }) => cpuMs / records })
  const note = `${smaller.backfill.records} and ${larger.backfill.records} records; without the start of the program`
  return {
    figures: [
      figure('B10 CPU', {
        value: cpu('backfill'),
        beside: { what: '× of the unchanged sync', value: cpu('sync') },
        ratio: cpu('backfill') / 10,
        note,
      }),
      figure('B10 memory', {
        value: larger.backfill.peakMiB / smaller.backfill.peakMiB,
        beside: { what: 'MiB at the smaller size', value: smaller.backfill.peakMiB },
        ratio: larger.backfill.peakMiB / smaller.backfill.peakMiB,
        note: `${larger.backfill.peakMiB} MiB at the larger size; in the sync ${smaller.sync.peakMiB} and ${larger.sync.peakMiB}`,
      }),
    ],
    smaller,
    larger,
  }
})

/** In a database of its own, on the same server. */
async function measure(serverUrl, name, shipments) {
  const service = await startService('--speed', '0', '--shipments', String(shipments))
  const server = await connect(serverUrl)
  await server.query(`create database growth_${name}`)
  const url = new URL(serverUrl)
  url.pathname = `/growth_${name}`
  const run = async (command) => {
    const before = await readServerCpuMs(server)
    const { text, ...measured } = await runMeasured([CONNECTOR], {
      API_URL: service.apiUrl,
      API_KEY: service.apiKey,
      DATABASE_URL: url.href,
      COMMAND: command,
      NOW: START,
    })
    const databaseMs = (await readServerCpuMs(server)) - before
    const { runCpuMs, outcome } = text === '' ? {} : JSON.parse(text)
    return { ...measured, outcome, connectorMs: runCpuMs, databaseMs, cpuMs: runCpuMs + databaseMs }
  }
  await run('migrate')
  const backfill = await run('backfill')
  const client = await connect(url.href)
  const { shipments: loaded, containers, transport_events: events } = await countRows(client)
  await client.query('vacuum analyze')
  const sync = await run('sync')
  const records = loaded + containers + events
  return { backfill: { ...backfill, records }, sync: { ...sync, records } }
}
