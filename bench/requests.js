/**
 * Requests of a whole account: a first load, a sync in which nothing changed, one after a hundredth
 * of the containers changed, and the complete one of each day; those for custom fields are counted
 * apart. Once where the service includes vessels and pick-up places with its list of shipments, and
 * once where it does not and each is read by its id, as the simulator does unless told; and what
 * `plan` says beforehand.
 *
 *   node bench/requests.js [shipments, 3000 unless told] [hours, 2 unless told]
 */
import { DEFAULT_INCLUDES } from '../dist/extensions/simulator/interface/included-records.js'
import { startSimulator } from '../dist/extensions/simulator/server.js'
import {
  atEnd,
  CLI,
  CONNECTOR,
  connect,
  openDatabase,
  runBench,
  runMeasured,
  START,
} from './bench-world.js'
import { figure } from './figures.js'

const SHIPMENTS = Number(process.argv[2] ?? 3000)
const HOURS = Number(process.argv[3] ?? 2)
const USUAL_HOURS = '24'

await runBench(async () => {
  const serverUrl = await openDatabase()
  const shipment = [
    ...DEFAULT_INCLUDES.shipment,
    'containers.pickup_facility',
    'containers.transport_events.vessel',
  ]
  const included = await measure(serverUrl, 'included', { shipment })
  const apart = await measure(serverUrl, 'apart', {})
  const toFigure = (id, run) =>
    figure(id, {
      value: included[run].others,
      beside: { what: 'requests where vessels are read by id', value: apart[run].others },
      note: `${describe(included[run])}; read by id ${describe(apart[run])}`,
    })
  const figures = [
    toFigure('B0 first load', 'backfill'),
    toFigure('B0 unchanged', 'unchanged'),
    toFigure('B0 changed', 'changed'),
    toFigure('B0 complete', 'complete'),
  ]
  return { figures, included, apart }
})

function describe({ others, customFields, planned, share }) {
  const told = planned === undefined ? '' : `, ${planned} planned in all`
  const changed = share === undefined ? '' : `, ${share} % of the containers changed`
  return `${others}, ${customFields} more for custom fields${told}${changed}`
}

async function measure(serverUrl, name, acceptedIncludes) {
  const simulator = await startSimulator({
    shipments: SHIPMENTS,
    startAt: new Date(START),
    speed: 0,
    rateLimitPerMinute: null,
    acceptedIncludes,
  })
  atEnd(() => simulator.close())
  const server = await connect(serverUrl)
  await server.query(`create database requests_${name}`)
  const url = new URL(serverUrl)
  url.pathname = `/requests_${name}`
  const plan = async (command) => {
    const { text } = await runMeasured([CLI, 'plan', '--json'], {
      TRACKING_API_URL: simulator.url,
      TRACKING_API_KEY: simulator.apiKey,
      DATABASE_URL: url.href,
      TRACKING_RATE_LIMIT_PER_MINUTE: '100000',
      TRACKING_LOG_LEVEL: 'silent',
    })
    return JSON.parse(text)[command].requests
  }
  const run = async (command, fullSyncHours = USUAL_HOURS) => {
    const { text } = await runMeasured([CONNECTOR], {
      API_URL: simulator.url,
      API_KEY: simulator.apiKey,
      DATABASE_URL: url.href,
      COMMAND: command,
      NOW: simulator.clock.now().toISOString(),
      FULL_SYNC_HOURS: fullSyncHours,
    })
    const { outcome, problems, requests, streams } = JSON.parse(text)
    if (outcome !== 'complete') throw new Error(`${command}: ${problems.join(' ')}`)
    const customFields = streams
      .filter(({ stream }) => stream.startsWith('custom_field'))
      .reduce((sum, { requests: own }) => sum + own, 0)
    return { others: requests - customFields, customFields }
  }
  const planned = { backfill: await plan('backfill') }
  const backfill = await run('backfill')
  planned.sync = await plan('sync')
  const unchanged = await run('sync')
  const client = await connect(url.href)
  await client.query(
    'create table public.before as select container_id, _changed_at from tracking.containers',
  )
  simulator.clock.advance(HOURS * 3_600_000)
  const changed = await run('sync')
  const share = await readShare(client)
  const complete = await run('sync', '0')
  return {
    backfill: { ...backfill, planned: planned.backfill },
    unchanged: { ...unchanged, planned: planned.sync },
    changed: { ...changed, share },
    complete,
  }
}

async function readShare(client) {
  const { rows } = await client.query(
    `select round(100.0 * count(*) filter (where stored._changed_at is distinct from earlier._changed_at)
        / count(*), 1)::float8 as share
    from tracking.containers as stored
    left join public.before as earlier using (container_id)`,
  )
  return rows[0].share
}
