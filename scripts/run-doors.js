/**
 * `npm run test:doors`: the doors of `serve --questions --mcp` as programs of others see them. The
 * suite of conformance of the Model Context Protocol runs against `/mcp`, LibreOffice opens the
 * addresses of an answer and has its rows, and the parser of Thunderbird, `ical.js`, reads the
 * calendar.
 *
 * Needs `soffice` (Debian: `apt install libreoffice-calc-nogui`), and Node 22 or later, as `node`
 * or in TEST_NODE, for the suite. npm fetches suite and parser.
 */
import { parse as parseCsv } from 'csv-parse/sync'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { atEnd, runBench } from '../bench/bench-world.js'
import { openWebhookScene } from '../bench/webhook-scene.js'

const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12'
const PARSER = 'ical.js@2.2.1'
/** All that a server can pass without the tools, prompts and resources of the suite. */
const SCENARIOS = [
  ...['server-initialize', 'server-session-lifecycle', 'server-sse-multiple-streams', 'ping'],
  ...['tools-list', 'resources-list', 'sep-2164-resource-not-found', 'http-header-validation'],
  ...['dns-rebinding-protection', 'input-required-result-unsupported-methods'],
]
const QUESTION = 'last_free_days'
/** Separated by commas, quoted by `"`, UTF-8. */
const AS_CSV = 'csv:Text - txt - csv (StarCalc):44,34,76'

await runBench(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tracking-sync-doors-'))
  atEnd(() => rm(folder, { recursive: true, force: true }))
  await run('npm', [
    'install',
    '--silent',
    '--prefix',
    folder,
    '--engine-strict=false',
    SUITE,
    PARSER,
  ])
  const scene = await openWebhookScene(['--no-scheduler', '--questions', '--mcp'])
  const { pagesUrl } = scene.serve
  const suite = join(folder, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')
  const failed = []
  for (const scenario of SCENARIOS) {
    const args = ['server', '--url', `${pagesUrl}/mcp`, '--scenario', scenario]
    const { code, text } = await tryRun(process.env.TEST_NODE ?? 'node', [suite, ...args])
    process.stdout.write(`${code === 0 ? 'ok  ' : 'FAIL'} ${scenario}\n`)
    if (code !== 0) failed.push({ scenario, text: text.slice(-2_000) })
  }
  const address = `${pagesUrl}/questions/${QUESTION}`
  const numbers = (await (await fetch(`${address}.json`)).json()).map(numberOf)
  for (const format of ['csv', 'xlsx']) {
    const [out, profile] = [join(folder, format), `file://${folder}/profile`]
    const how = [`-env:UserInstallation=${profile}`, '--headless', '--convert-to', AS_CSV]
    await run('soffice', [...how, '--outdir', out, `${address}.${format}`])
    const text = await readFile(join(out, `${QUESTION}.csv`), 'utf8')
    const seen = parseCsv(text, { columns: true, bom: true }).map(numberOf)
    const isSame = numbers.length > 0 && seen.join() === numbers.join()
    process.stdout.write(
      `${isSame ? 'ok  ' : 'FAIL'} ${seen.length} rows of ${format} in soffice\n`,
    )
    if (!isSame) failed.push({ format, rows: seen.length, expected: numbers.length })
  }
  const events = await readCalendar(join(folder, 'node_modules/ical.js'), `${address}.ics`)
  const days = await (await fetch(`${address}.json?state=overdue&columns=binding_on`)).json()
  const isCalendar = days.length > 0 && days.every(({ binding_on: on }) => events.has(on))
  process.stdout.write(`${isCalendar ? 'ok  ' : 'FAIL'} ${events.size} days in ical.js\n`)
  if (!isCalendar) failed.push({ format: 'ics', events: [...events], expected: days.length })
  if (failed.length > 0) process.exitCode = 1
  return { scenarios: SCENARIOS.length, rows: numbers.length, failed }
})

/** The days of its events. */
async function readCalendar(directory, address) {
  const { default: ical } = await import(join(directory, 'dist/ical.js'))
  const calendar = new ical.Component(ical.parse(await (await fetch(address)).text()))
  const events = calendar.getAllSubcomponents('vevent').map((one) => new ical.Event(one))
  if (events.some(({ uid, summary }) => !uid || !summary))
    throw new Error('an event lacks its text')
  return new Set(events.map(({ startDate }) => startDate.toString()))
}

function numberOf({ container_number: number }) {
  return number
}

async function run(program, args) {
  const { code, text } = await tryRun(program, args)
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${text.slice(-2_000)}`)
}

/** The server is ours too: it answers while the program runs. */
async function tryRun(program, args) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (piece) => (text += piece))
  }
  const [code] = await once(child, 'close')
  return { code, text }
}
