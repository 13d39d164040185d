/**
 * Requests of a sync after some containers changed, as the simulator counted them: where transport
 * events come included with the lists, and where they must be asked for. What changed is what a few
 * hours of a world bring. Requests are counted beyond those of a sync in which nothing changed.
 *
 *   node bench/changed-pass.js [shipments, 3000 unless told] [hours, 6 unless told]
 */
import { startSimulator } from '../dist/extensions/simulator/server.js'
import {
  atEnd,
  CONNECTOR,
  connect,
  openDatabase,
  runBench,
  runMeasured,
  START,
} from './bench-world.js'
import { figure } from './figures.js'

const SHIPMENTS = Number(process.argv[2] ?? 3000)
const HOURS = Number(process.argv[3] ?? 6)

await runBench(async () => {
  const serverUrl = await openDatabase()
  const included = await measure(serverUrl, 'included', undefined)
  const asked = await measure(serverUrl, 'asked', { shipment: ['containers'], container: [] })
  const toFigure = (id, measured) =>
    figure(id, {
      value: measured.beyond / measured.changed,
      beside: { what: 'requests of the unchanged sync', value: measured.unchangedRequests },
      ratio: measured.requests / measured.unchangedRequests,
      note: `${measured.requests} requests; ${measured.changed} of ${measured.containers} containers changed, ${measured.withNewEvents} of them by new transport events`,
    })
  return {
    figures: [toFigure('B2 included', included), toFigure('B2 asked for', asked)],
    included,
    asked,
  }
})

async function measure(serverUrl, name, acceptedIncludes) {
  const simulator = await startSimulator({
    shipments: SHIPMENTS,
    startAt: new Date(START),
    speed: 0,
    rateLimitPerMinute: null,
    ...(acceptedIncludes === undefined ? {} : { acceptedIncludes }),
  })
  atEnd(() => simulator.close())
  const server = await connect(serverUrl)
  await server.query(`create database changed_${name}`)
  const url = new URL(serverUrl)
  url.pathname = `/changed_${name}`
  const run = async (command) => {
    const before = simulator.requests.total
    const { text } = await runMeasured([CONNECTOR], {
      API_URL: simulator.url,
      API_KEY: simulator.apiKey,
      DATABASE_URL: url.href,
      COMMAND: command,
      NOW: simulator.clock.now().toISOString(),
    })
    const { outcome, problems } = JSON.parse(text)
    if (outcome !== 'complete') throw new Error(`${command}: ${problems.join(' ')}`)
    return simulator.requests.total - before
  }
  await run('backfill')
  const unchangedRequests = await run('sync')
  const client = await connect(url.href)
  await client.query(
    `create table public.before as
    select container_id, transport_event_ids, _changed_at from tracking.containers`,
  )
  simulator.clock.advance(HOURS * 3_600_000)
  const requests = await run('sync')
  return {
    unchangedRequests,
    requests,
    beyond: requests - unchangedRequests,
    ...(await countChanged(client)),
  }
}

async function countChanged(client) {
  const { rows } = await client.query(
    `select count(*)::int as containers,
        count(*) filter (where stored._changed_at is distinct from earlier._changed_at)::int as changed,
        count(*) filter (
            where not coalesce(stored.transport_event_ids, '{}') <@ coalesce(earlier.transport_event_ids, '{}')
        )::int as "withNewEvents"
    from tracking.containers as stored
    left join public.before as earlier using (container_id)`,
  )
  return rows[0]
}
