/**
 * An account of ten million transport events: what a record of it costs against one of a small
 * account, measured in the same run; the memory of its backfill and of the unchanged sync after it;
 * and every question about one container, the whole command from its start to its end.
 *
 *   node bench/ten-million-events.js [shipments, 340000 unless told] [of the small account, 6000]
 */
import { CLI, connect, openDatabase, runBench, runMeasured } from './bench-world.js'
import { figure } from './figures.js'
import { measureAccount } from './measure-account.js'

const [large = '340000', small = '6000'] = process.argv.slice(2)

await runBench(async () => {
  // As one gives it to an account of this size: see "Before a large first load" in operating.md.
  const databaseUrl = await openDatabase({ shared_buffers: '4GB', max_wal_size: '16GB' })
  const smaller = await measureAccount(databaseUrl, 'small', Number(small))
  const larger = await measureAccount(databaseUrl, 'large', Number(large))
  const asked = await askAboutContainer(larger.databaseUrl)
  const details = [smaller, larger].map(({ rows, backfill, sync }) => ({ rows, backfill, sync }))
  const slowest = asked.toSorted((one, other) => other.ms - one.ms)[0]
  const perRecord = ({ cpuMs, records }) => (1000 * cpuMs) / records
  const inMB = ({ peakMiB }) => (peakMiB * 2 ** 20) / 1e6
  const { backfill, sync, rows } = larger
  const world = `${rows.containers} containers, ${rows.transport_events} events`
  return {
    figures: [
      figure('B15 memory', {
        value: inMB(backfill),
        beside: { what: 'MB in the sync after it', value: inMB(sync) },
        note: `${world}; backfill ${Math.round(backfill.seconds)} s, sync ${Math.round(sync.seconds)} s`,
      }),
      figure('B15 CPU', {
        value: perRecord(backfill) / perRecord(smaller.backfill),
        beside: {
          what: '× of the unchanged sync',
          value: perRecord(sync) / perRecord(smaller.sync),
        },
        note: `µs a record: ${Math.round(perRecord(backfill))}, of the small account ${Math.round(perRecord(smaller.backfill))}`,
      }),
      figure('B15 question', {
        value: slowest.ms,
        note: `${slowest.name}, of ${asked.length} that can be asked about a container`,
      }),
    ],
    accounts: details,
    asked,
  }
})

/** In milliseconds, one after the other. */
async function askAboutContainer(databaseUrl) {
  const client = await connect(databaseUrl)
  const { rows } = await client.query(
    'select container_id from tracking.containers order by container_id limit 1',
  )
  const env = { DATABASE_URL: databaseUrl }
  const { text } = await runMeasured([CLI, 'query', '--format', 'json'], env)
  const asked = []
  for (const { question: name, parameters } of JSON.parse(text)) {
    if (!parameters.includes('container')) continue
    const startedAt = performance.now()
    const { exitCode } = await runMeasured(
      [CLI, 'query', name, '--container', rows[0].container_id],
      env,
    )
    if (exitCode !== 0) throw new Error(`query ${name} ended with ${exitCode}`)
    asked.push({ name, ms: Math.round(performance.now() - startedAt) })
  }
  return asked
}
