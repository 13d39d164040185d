/**
 * The most memory the program has at once while it loads an account, and how long it takes. Peak RSS is the kernel's (VmHWM), of the
 * program alone: service and database are other processes.
 *
 *   node bench/backfill-memory.js [shipments, 30000 unless told]
 */
import {
  CLI,
  connect,
  countRows,
  openDatabase,
  runBench,
  runMeasured,
  startService,
} from './bench-world.js'

await runBench(async () => {
  const service = await startService('--speed', '1')
  const databaseUrl = await openDatabase()
  const measured = await runMeasured([CLI, 'backfill', '--json'], {
    TRACKING_API_URL: service.apiUrl,
    TRACKING_API_KEY: service.apiKey,
    DATABASE_URL: databaseUrl,
    TRACKING_RATE_LIMIT_PER_MINUTE: '100000',
    TRACKING_LOG_LEVEL: 'silent',
  })
  const report = JSON.parse(measured.text)
  return {
    exitCode: measured.exitCode,
    rows: await countRows(await connect(databaseUrl)),
    requests: report.requests,
    seconds: measured.seconds,
    peakRssMiB: measured.peakMiB,
  }
})
