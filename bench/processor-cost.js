/**
 * What a backfill costs in processor time, connector and database together, beside its floor (the
 * same pages parsed in the cheaper of two ways, the same rows copied by psql) and beside other ways
 * to do it; and what an unchanged sync after it costs beside the same pages parsed, and beside the
 * others that do their load again: the complete sync, which reads the whole account once a day, and
 * the usual one, which reads what can still change. Floor, ours and others take turns, each round
 * into empty tables. All are answered from memory; the service's processor time counts nowhere.
 * Unpacking, the requests and all bookkeeping are ours, and no part of a floor.
 *
 *   node bench/processor-cost.js [shipments, 30000 unless told] [rounds, 3 unless told]
 */
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  atEnd,
  CONNECTOR,
  connect,
  isAskedFor,
  openDatabase,
  runBench,
  runMeasured,
  START,
  startService,
} from './bench-world.js'
import { copyRows, layOutFloor, saveRows } from './copied-rows.js'
import { figure, median, shorten } from './figures.js'
import { PEERS } from './peers/index.js'
import { readServerCpuMs } from './processor-time.js'

const ROUNDS = Number(process.argv[3] ?? 3)
const fileOf = (name) => fileURLToPath(new URL(name, import.meta.url))
const PARSER = fileOf('parse-pages.js')
const USUAL_HOURS = '24'

await runBench(async () => {
  const peers = isAskedFor('B4') ? await findPeers() : []
  const scene = await openScene()
  const rounds = []
  for (let at = 0; at < ROUNDS; at += 1) {
    const floor = await measureFloor(scene)
    const ours = await measureOurs(scene, `ours_${at}`)
    const others = {}
    for (const peer of peers) {
      // What is slow is no rival: once is enough to say how slow.
      if (at > 0 && peer.isSlow) continue
      others[peer.name] = await measurePeer(scene, peer, `other_${at}`)
    }
    rounds.push({ floor, ours, others })
    process.stderr.write(`${JSON.stringify(rounds.at(-1))}\n`)
  }
  const { answers, rows } = scene
  const pages = { backfill: answers.backfill.pages, sync: answers.sync.pages }
  return { figures: summarise(scene, rounds, peers), pages, rows, rounds }
})

/** Those whose programs are on this machine; of the others the reader is told. */
async function findPeers() {
  const found = await Promise.all(
    PEERS.map(async ({ name, needs }) => {
      if (needs === undefined) return true
      const isThere = await hasProgram(needs)
      if (!isThere) process.stderr.write(`B4: no ${needs} here, so not beside ${name}\n`)
      return isThere
    }),
  )
  return PEERS.filter((_, at) => found[at])
}

async function hasProgram(name) {
  const child = spawn(name, ['--version'], { stdio: 'ignore' })
  const isThere = await once(child, 'close').catch(() => undefined)
  return isThere?.[0] === 0
}

/** A backfill that is not measured tells which pages and rows there are, and fills the memory. */
async function openScene() {
  const { apiKey, apiUrl } = await startService('--speed', '0')
  const memory = await holdAnswers(apiUrl)
  const service = { apiUrl: memory.url, apiKey }
  const serverUrl = await openDatabase()
  const server = await connect(serverUrl)
  const scene = { service, serverUrl, server }
  const { url, client } = await createDatabase(scene, 'recorded')
  const record = (command, hours) => memory.record(() => runConnector(service, url, command, hours))
  const answers = {
    backfill: await record('backfill'),
    sync: await record('sync'),
    usual: await record('sync', USUAL_HOURS),
  }
  const tables = await saveRows(client, url)
  const rows = Object.fromEntries(tables.map((table) => [table.name, table.rows]))
  return { ...scene, floorUrl: url, client, tables, rows, answers }
}

/** See held-answers.js. `record` resolves to what was answered while `work` was done. */
async function holdAnswers(apiUrl) {
  const child = fork(fileOf('held-answers.js'), [apiUrl])
  atEnd(async () => {
    child.disconnect()
    if (child.exitCode === null) await once(child, 'exit')
  })
  const [{ url }] = await once(child, 'message')
  const keepIn = async (directory) => {
    child.send({ keepIn: directory })
    const [{ kept }] = await once(child, 'message')
    return kept
  }
  const record = async (work) => {
    const directory = await mkdtemp(join(tmpdir(), 'tracking-sync-pages-'))
    atEnd(() => rm(directory, { recursive: true, force: true }))
    await keepIn(directory)
    await work()
    return { directory, pages: await keepIn(undefined) }
  }
  return { url, record }
}

async function createDatabase({ serverUrl, server }, name) {
  await server.query(`create database ${name}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return { url: url.href, client: await connect(url.href) }
}

async function runConnector({ apiUrl, apiKey }, databaseUrl, command, fullSyncHours = '0') {
  const { exitCode, text, ...measured } = await runMeasured([CONNECTOR], {
    API_URL: apiUrl,
    API_KEY: apiKey,
    DATABASE_URL: databaseUrl,
    COMMAND: command,
    NOW: START,
    FULL_SYNC_HOURS: fullSyncHours,
  })
  if (exitCode !== 0) throw new Error(`${command} ended with ${exitCode}`)
  const report = text === '' ? {} : JSON.parse(text)
  if (report.problems?.length > 0) throw new Error(`${command}: ${report.problems.join(' ')}`)
  return { ...measured, ...report }
}

/** The server's processor time that passes while `work` does, and the WAL that it writes. */
async function withServerTime(server, work) {
  const before = await readServerCpuMs(server)
  const walBefore = await readWalPosition(server)
  const result = await work()
  const walBytes = (await readWalPosition(server)) - walBefore
  return { ...result, walBytes, databaseMs: (await readServerCpuMs(server)) - before }
}

async function readWalPosition(server) {
  const { rows } = await server.query(
    `select (pg_current_wal_insert_lsn() - '0/0')::float8 as bytes`,
  )
  return rows[0].bytes
}

/** Reading costs what the cheaper way costs. */
async function measureFloor({ server, client, floorUrl, tables, answers }) {
  const parse = async ({ directory }) => {
    const ways = JSON.parse((await runMeasured([PARSER, directory], {})).text)
    return Object.values(ways).toSorted((one, two) => one.cpuMs - two.cpuMs)[0]
  }
  const { cpuMs: parseMs, records, bytes, seconds } = await parse(answers.backfill)
  const sync = await parse(answers.sync)
  const usual = await parse(answers.usual)
  await layOutFloor(client, tables)
  const startedAt = performance.now()
  const copied = await withServerTime(server, async () => ({
    psqlMs: await copyRows(floorUrl, tables),
    copySeconds: (performance.now() - startedAt) / 1000,
  }))
  const wall = seconds + copied.copySeconds
  const syncParseMs = sync.cpuMs
  return { parseMs, ...copied, records, bytes, syncParseMs, usualParseMs: usual.cpuMs, wall }
}

async function measureOurs(scene, name) {
  const { server, service } = scene
  const { url, client } = await createDatabase(scene, name)
  await runConnector(service, url, 'migrate')
  const run = (command, hours) =>
    withServerTime(server, async () => {
      const { runCpuMs, seconds, peakMiB } = await runConnector(service, url, command, hours)
      return { connectorMs: runCpuMs, seconds, peakMiB }
    })
  const backfill = await run('backfill')
  await client.query('vacuum analyze')
  const sync = await run('sync')
  const usual = await run('sync', USUAL_HOURS)
  await client.end()
  await server.query(`drop database ${name} with (force)`)
  return { backfill, sync, usual }
}

async function measurePeer(scene, peer, name) {
  const { url, client } = await createDatabase(scene, name)
  await peer.prepare(client)
  const load = () =>
    withServerTime(scene.server, async () => {
      const startedAt = performance.now()
      const toolMs = await peer.load({ ...scene.service, databaseUrl: url })
      return { toolMs, seconds: (performance.now() - startedAt) / 1000 }
    })
  const first = await load()
  await client.query('vacuum analyze')
  const again = peer.canRepeat ? { again: await load() } : {}
  await compareCounts(client, scene.rows, peer.name)
  await client.end()
  await scene.server.query(`drop database ${name} with (force)`)
  return { ...first, ...again }
}

/** One that stored less did less, and is no rival. */
async function compareCounts(client, expected, name) {
  for (const table of ['shipments', 'containers', 'transport_events']) {
    const { rows } = await client.query(`select count(*)::int as count from public.${table}`)
    if (rows[0].count !== expected[table])
      throw new Error(`${name}: ${rows[0].count} ${table} of ${expected[table]}`)
  }
}

function summarise({ rows }, rounds, peers) {
  const floorMs = ({ parseMs, psqlMs, databaseMs }) => parseMs + psqlMs + databaseMs
  const oursMs = ({ backfill }) => backfill.connectorMs + backfill.databaseMs
  const peerMs = ({ toolMs, databaseMs }) => toolMs + databaseMs
  const records = rows.shipments + rows.containers + rows.transport_events
  const micro = (milliseconds) => Math.round((milliseconds * 1000) / records)
  const of = (read) => median(rounds.map(read))
  const runMs = ({ connectorMs, databaseMs }) => connectorMs + databaseMs
  const say = (run) =>
    `connector ${micro(of(({ ours }) => ours[run].connectorMs))} + database ${micro(of(({ ours }) => ours[run].databaseMs))} µs a record`
  const wall = [
    `ours ${shorten(of(({ ours }) => ours.backfill.seconds))}`,
    `the floor ${shorten(of(({ floor }) => floor.wall))}`,
    // The first round of another fills the memory with its answers.
    ...Object.keys(rounds[0].others).map(
      (name) =>
        `${name} ${shorten(rounds.findLast(({ others }) => name in others).others[name].seconds)}`,
    ),
  ].join(', ')
  const figures = [
    figure('B3 backfill', {
      runs: rounds.map(({ floor, ours }) => oursMs(ours) / floorMs(floor)),
      beside: { what: 'µs a record, floor', value: micro(of(({ floor }) => floorMs(floor))) },
      ratio: of(({ floor, ours }) => oursMs(ours) / floorMs(floor)),
      note: `${rows.shipments} shipments, ${records} records; ${say('backfill')}, floor: parse ${micro(of(({ floor }) => floor.parseMs))} + psql ${micro(of(({ floor }) => floor.psqlMs))} + database ${micro(of(({ floor }) => floor.databaseMs))}; seconds from memory, with the start of each program: ${wall}`,
    }),
    figure('B5 unchanged', {
      runs: rounds.map(({ floor, ours }) => runMs(ours.sync) / floor.syncParseMs),
      beside: {
        what: 'µs a record, parsing',
        value: micro(of(({ floor }) => floor.syncParseMs)),
      },
      ratio: of(({ floor, ours }) => runMs(ours.sync) / floor.syncParseMs),
      note: `the complete sync: ${say('sync')}; the usual one reads a part: ${say('usual')} of the account, ${shorten(of(({ floor, ours }) => runMs(ours.usual) / floor.usualParseMs))} × the parsing of its pages`,
    }),
  ]
  if (!isAskedFor('B4')) return figures
  const byPeer = peers.map(({ name }) => {
    const times = rounds.flatMap(({ others }) => (name in others ? peerMs(others[name]) : []))
    return { name, ms: median(times) }
  })
  const [fastest] = byPeer.toSorted((one, two) => one.ms - two.ms)
  const factors = rounds.flatMap(({ ours, others }) =>
    fastest.name in others ? peerMs(others[fastest.name]) / oursMs(ours) : [],
  )
  figures.push(
    figure('B4 others', {
      runs: factors,
      beside: { what: `µs a record, ${fastest.name}`, value: micro(fastest.ms) },
      ratio: median(factors),
      note: `ours ${micro(of(({ ours }) => oursMs(ours)))} µs a record; ${byPeer.map(({ name, ms }) => `${name} ${micro(ms)}`).join(', ')}${describeAgain(rounds, micro)}`,
    }),
  )
  return figures
}

/** The same once more, with nothing changed: what a schedule does every time but the first. */
function describeAgain(rounds, micro) {
  const say = (name, runs) => {
    const ms = median(
      runs.map(({ toolMs, connectorMs, databaseMs }) => (toolMs ?? connectorMs) + databaseMs),
    )
    const walMB = median(runs.map(({ walBytes }) => walBytes)) / 1e6
    return `${name} ${micro(ms)} and ${walMB.toPrecision(2)} MB of WAL`
  }
  const said = [
    say(
      'ours',
      rounds.map(({ ours }) => ours.sync),
    ),
  ]
  for (const name of Object.keys(rounds[0].others)) {
    const runs = rounds.flatMap(({ others }) => others[name]?.again ?? [])
    if (runs.length > 0) said.push(say(name, runs))
  }
  return `; once more, nothing changed: ${said.join(', ')}`
}
