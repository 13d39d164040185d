/**
 * How long each question takes right after the first load of an account: the whole command, from
 * its start to its end, with the first twenty rows of the answer, in the order in which `query`
 * lists them. Nothing was asked before, so what PostgreSQL has not learned about the new rows
 * shows.
 *
 *   node bench/first-questions.js [shipments, 30000 unless told]
 */
import {
  CLI,
  CONNECTOR,
  openDatabase,
  runBench,
  runMeasured,
  SHIPMENTS,
  startService,
} from './bench-world.js'
import { figure, median } from './figures.js'

await runBench(async () => {
  // The account of today: of one that stands since spring every box would be overdue for months.
  const now = new Date().toISOString()
  const service = await startService('--speed', '0', '--start', now)
  // With autovacuum as it comes: whoever asks at once asks before it has been there.
  const databaseUrl = await openDatabase({})
  const load = await runMeasured([CONNECTOR], {
    API_URL: service.apiUrl,
    API_KEY: service.apiKey,
    DATABASE_URL: databaseUrl,
    COMMAND: 'backfill',
    NOW: now,
  })
  if (load.exitCode !== 0) throw new Error('the backfill did not end well')
  const env = { DATABASE_URL: databaseUrl, TRACKING_API_URL: service.apiUrl }
  const ask = (...args) => runMeasured([CLI, 'query', ...args], env)
  const { text } = await ask('--format', 'json')
  const asked = []
  for (const { question: name } of JSON.parse(text)) {
    const askedAt = performance.now()
    const { exitCode } = await ask(name, '--limit', '20')
    if (exitCode !== 0) throw new Error(`query ${name} ended with ${exitCode}`)
    asked.push({ name, ms: Math.round(performance.now() - askedAt) })
  }
  const slowest = asked.reduce((one, other) => (other.ms > one.ms ? other : one))
  return {
    figures: [
      figure('B14 first', {
        value: slowest.ms,
        note: `${slowest.name} of ${asked.length}, ${SHIPMENTS} shipments; the median of the questions ${Math.round(median(asked.map(({ ms }) => ms)))} ms`,
      }),
    ],
    load,
    asked,
  }
})
