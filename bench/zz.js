import { connect, CONNECTOR, openDatabase, runBench, runMeasured, START, startService } from './bench-world.js'
import { readServerCpuMs } from './processor-time.js'
await runBench(async () => {
  const service = await startService('--speed', '0', '--shipments', process.argv[2])
  const url = await openDatabase({ autovacuum: 'off', shared_preload_libraries: 'pg_stat_statements', 'pg_stat_statements.max': '1000' })
  const client = await connect(url)
  await client.query('create extension pg_stat_statements')
  const run = (command, flags) => runMeasured([CONNECTOR], { API_URL: service.apiUrl, API_KEY: service.apiKey, DATABASE_URL: url, COMMAND: command, NOW: START }, flags)
  await run('migrate')
  await client.query('select pg_stat_statements_reset()')
  const before = await readServerCpuMs(client)
  const { text, peakMiB, seconds } = await run('backfill', process.env.PROF ? ['--cpu-prof', '--cpu-prof-dir=/tmp/prof', '--cpu-prof-interval=250'] : [])
  const databaseMs = (await readServerCpuMs(client)) - before
  const { runCpuMs } = JSON.parse(text)
  const { rows: [{ n }] } = await client.query('select ((select count(*) from tracking.shipments)+(select count(*) from tracking.containers)+(select count(*) from tracking.transport_events))::int as n')
  process.stderr.write(`n ${n} connector ${(runCpuMs*1000/n).toFixed(1)} database ${(databaseMs*1000/n).toFixed(1)} peak ${peakMiB} s ${seconds}\n`)
  const { rows } = await client.query(`select left(regexp_replace(query, '\\s+', ' ', 'g'), 300) as q, calls::int, round((total_exec_time*1000/${n})::numeric, 2) as us from pg_stat_statements order by total_exec_time desc limit 40`)
  for (const r of rows) console.log(r.us, r.calls, r.q)
  if (process.env.HOLD) { console.error(url); await new Promise((r) => setTimeout(r, 600000)) }
  return {}
})
