/** One run with a clock that stands at NOW, which the program itself cannot have; prints what it reports and used. */
import { createApiClient } from '../dist/api/client.js'
import { createTrackingService } from '../dist/api/endpoints.js'
import { unlimitedBudget } from '../dist/api/request-budget.js'
import { silentLogger } from '../dist/logger.js'
import { createSleep } from '../dist/retry.js'
import { runSync } from '../dist/sync/run-sync.js'
import { migrate, readMigrations } from '../dist/warehouse/migrate.js'
import { createWarehouse } from '../dist/warehouse/warehouse.js'

const { API_URL, API_KEY, DATABASE_URL, COMMAND, NOW } = process.env
const logger = silentLogger
const client = createApiClient({
  baseUrl: API_URL,
  apiKey: API_KEY,
  logger,
  clock: () => new Date(NOW),
  sleep: createSleep(),
  random: Math.random,
  budget: unlimitedBudget,
})
const warehouse = createWarehouse({ url: DATABASE_URL, schema: 'tracking', logger })
try {
  await migrate(warehouse, await readMigrations(), { sleep: createSleep() })
  const report = await runSync(COMMAND, {
    service: createTrackingService(client),
    warehouse,
    logger,
    settings: {
      pageSize: 100,
      eventConcurrency: 4,
      vesselPositions: false,
      quarantineLimitPercent: 5,
    },
    programVersion: 'bench',
    signal: new AbortController().signal,
  })
  const { user, system } = process.cpuUsage()
  const { outcome, requests, streams, problems } = report
  const figures = {
    outcome,
    problems,
    requests,
    cpuSeconds: Math.round((user + system) / 1e5) / 10,
    streams: streams.map(({ stream, counts }) => ({ stream, ...counts })),
  }
  process.stdout.write(JSON.stringify(figures))
} finally {
  await warehouse.close()
  await client.close()
}
