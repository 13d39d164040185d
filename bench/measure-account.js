import { CONNECTOR, connect, countRows, runMeasured, START, startService } from './bench-world.js'
import { readServerCpuMs } from './processor-time.js'

/**
 * A backfill and the unchanged sync after it of an account of so many shipments, in a database of
 * its own on the server: processor time of connector and database in milliseconds, without the
 * start of the program; peak memory of the connector in MiB; the records that came.
 */
export async function measureAccount(serverUrl, name, shipments) {
  const service = await startService('--speed', '0', '--shipments', String(shipments))
  const server = await connect(serverUrl)
  await server.query(`create database account_${name}`)
  const url = new URL(serverUrl)
  url.pathname = `/account_${name}`
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
    const { runCpuMs, outcome, problems } = text === '' ? {} : JSON.parse(text)
    process.stderr.write(
      `${name}: ${command} ${outcome ?? 'done'}, ${measured.seconds} s, ${measured.peakMiB} MiB\n`,
    )
    if (outcome !== undefined && outcome !== 'complete') {
      throw new Error(
        `${command} of ${shipments} shipments ended ${outcome}: ${problems.join('; ')}`,
      )
    }
    return { ...measured, connectorMs: runCpuMs, databaseMs, cpuMs: runCpuMs + databaseMs }
  }
  await run('migrate')
  const backfill = await run('backfill')
  const client = await connect(url.href)
  const rows = await countRows(client)
  await client.query('vacuum analyze')
  const sync = await run('sync')
  const records = rows.shipments + rows.containers + rows.transport_events
  return {
    databaseUrl: url.href,
    rows,
    backfill: { ...backfill, records },
    sync: { ...sync, records },
  }
}
