/**
 * How often a backfill waits for the database: it is made once beside it, and once with a network
 * between in which every answer comes 20 ms later. The seconds that this adds, divided by those 20
 * ms, are the waits that stand in a row; what is asked for side by side counts once.
 *
 *   node bench/late-network.js [shipments, 280 unless told]
 */
import { once } from 'node:events'
import { connect as connectSocket, createServer } from 'node:net'
import {
  atEnd,
  CONNECTOR,
  connect,
  openDatabase,
  round,
  runBench,
  runMeasured,
  START,
  startService,
} from './bench-world.js'
import { figure } from './figures.js'

const SHIPMENTS = process.argv[2] ?? '280'
const LATE_MS = 20

await runBench(async () => {
  const service = await startService('--speed', '0', '--shipments', SHIPMENTS)
  const serverUrl = await openDatabase()
  const seconds = {}
  for (const lateMs of [0, LATE_MS]) {
    const server = await connect(serverUrl)
    await server.query(`create database late_${lateMs}`)
    const url = await passThrough(serverUrl, lateMs)
    url.pathname = `/late_${lateMs}`
    const run = (command) =>
      runMeasured([CONNECTOR], {
        API_URL: service.apiUrl,
        API_KEY: service.apiKey,
        DATABASE_URL: url.href,
        COMMAND: command,
        NOW: START,
      })
    await run('migrate')
    // The schemas are there: what opening the warehouse takes is no part of the backfill.
    const opened = await run('migrate')
    const backfill = await run('backfill')
    if (backfill.exitCode !== 0) throw new Error('the backfill did not end well')
    seconds[lateMs] = round(backfill.seconds - opened.seconds)
  }
  const waits = ((seconds[LATE_MS] - seconds[0]) * 1000) / LATE_MS
  return {
    figures: [
      figure('B17 waits', {
        value: waits,
        note: `${SHIPMENTS} shipments, ${seconds[0]} s beside the database, ${seconds[LATE_MS]} s with ${LATE_MS} ms between`,
      }),
    ],
    seconds,
  }
})

/** The server's address through a proxy on which everything it sends comes `lateMs` later. */
async function passThrough(serverUrl, lateMs) {
  const target = new URL(serverUrl)
  const proxy = createServer((client) => {
    const server = connectSocket(Number(target.port), target.hostname)
    // As both ends do: held back by Nagle's rule, a short message waits 40 ms for what came before.
    client.setNoDelay(true)
    server.setNoDelay(true)
    client.pipe(server)
    server.on('data', (chunk) => setTimeout(() => client.write(chunk), lateMs))
    server.on('close', () => setTimeout(() => client.destroy(), lateMs))
    client.on('error', () => server.destroy())
    server.on('error', () => client.destroy())
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  atEnd(async () => void proxy.close())
  const url = new URL(serverUrl)
  url.hostname = '127.0.0.1'
  url.port = String(proxy.address().port)
  return url
}
