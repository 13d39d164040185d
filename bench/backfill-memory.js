/**
 * The most memory the program has at once while it loads an account and in the sync after it, and
 * how long both take. Peak RSS is the kernel's (VmHWM), of the program alone: service and database
 * are other processes.
 *
 *   node bench/backfill-memory.js [shipments, 30000 unless told] [MiB that Node may use for its heap; its own choice unless told]
 */
import {
  CLI,
  connect,
  countRows,
  openDatabase,
  print,
  runBench,
  runMeasured,
  startService,
} from './bench-world.js'
import { figure } from './figures.js'

const heapLimitMiB = process.argv[3]
const flags = heapLimitMiB === undefined ? [] : [`--max-old-space-size=${heapLimitMiB}`]

await runBench(async () => {
  const service = await startService('--speed', '1')
  const databaseUrl = await openDatabase()
  const run = async (command) => {
    const env = {
      TRACKING_API_URL: service.apiUrl,
      TRACKING_API_KEY: service.apiKey,
      DATABASE_URL: databaseUrl,
      TRACKING_RATE_LIMIT_PER_MINUTE: '100000',
      TRACKING_LOG_LEVEL: 'silent',
      // The whole lists: for a filtered one the simulator draws every shipment for every page.
      TRACKING_FULL_SYNC_HOURS: '0',
    }
    const { text, ...measured } = await runMeasured([CLI, command, '--json'], env, flags)
    const { requests } = JSON.parse(text)
    return { ...measured, requests }
  }
  const backfill = await run('backfill')
  print({ backfill })
  const sync = await run('sync')
  const rows = await countRows(await connect(databaseUrl))
  const toMB = ({ peakMiB }) => (peakMiB * 2 ** 20) / 1e6
  const memory = figure('B7 memory', {
    value: toMB(backfill),
    beside: { what: 'MB in the sync after it', value: toMB(sync) },
    note: `${rows.containers} containers`,
  })
  return { figures: [memory], flags, rows, backfill, sync }
})
