/**
 * One run as the program makes it, but with a clock that stands at NOW, which the program itself
 * cannot have; prints what it reports and used. The command `migrate` only lays out the schemas.
 */
import { accountKey } from '../dist/base/service-address.js'
import { ApiClient } from '../dist/source/client/client.js'
import { createTrackingService } from '../dist/source/client/endpoints.js'
import { boundHeapGrowth } from '../dist/commands/program.js'
import { silentLogger } from '../dist/base/logger.js'
import { createSleep } from '../dist/base/retry.js'
import { runSync } from '../dist/sync/run-sync.js'
import { prepareSchemas } from '../dist/warehouse/schema/prepare-schemas.js'
import { createSharedRequestBudget } from '../dist/warehouse/coordination/shared-budget.js'
import { createWarehouse } from '../dist/warehouse/connection/warehouse.js'

const { API_URL, API_KEY, DATABASE_URL, COMMAND, NOW, FULL_SYNC_HOURS = '0' } = process.env
// After the modules are loaded, so the nursery has grown: memory is measured of the program (B7).
boundHeapGrowth()
const logger = silentLogger
const sleep = createSleep()
const warehouse = createWarehouse({ url: DATABASE_URL, schema: 'tracking', logger })
const client = new ApiClient({
  baseUrl: API_URL,
  apiKey: API_KEY,
  logger,
  clock: () => new Date(NOW),
  sleep,
  random: Math.random,
  // So many that nobody waits, but asked for and counted like any.
  budget: createSharedRequestBudget({
    warehouse,
    account: accountKey({ apiUrl: API_URL, apiKey: API_KEY }),
    perMinute: 1_000_000,
    sleep,
    clock: () => new Date(),
  }),
})
try {
  await prepareSchemas(warehouse, { sleep })
  if (COMMAND !== 'migrate') await run()
} finally {
  await warehouse.close()
  await client.close()
}

async function run() {
  const before = process.cpuUsage()
  const report = await runSync(COMMAND, {
    service: createTrackingService(client),
    warehouse,
    logger,
    settings: {
      pageSize: 100,
      vesselPositions: false,
      fullSyncHours: Number(FULL_SYNC_HOURS),
    },
    programVersion: 'bench',
    signal: new AbortController().signal,
  })
  const whole = process.cpuUsage()
  const own = process.cpuUsage(before)
  const { outcome, requests, streams, problems } = report
  const figures = {
    outcome,
    problems,
    requests,
    cpuSeconds: Math.round((whole.user + whole.system) / 1e5) / 10,
    // Without the start of the program, which `start.js` measures.
    runCpuMs: (own.user + own.system) / 1000,
    streams: streams.map(({ stream, counts }) => ({ stream, ...counts })),
  }
  process.stdout.write(JSON.stringify(figures))
}
