/**
 * Takes the pictures of the dashboard, its map and a container that the README shows: the demo's
 * simulated world over eleven days, seen by a Chromium of this machine. Run it after the page has
 * changed; it needs `chromium`, and a font for Chinese names (`fonts-droid-fallback`).
 *
 *   node scripts/take-screenshot.js [chromium unless told]
 */
import { chromium } from 'playwright-core'
import { CLI, atEnd, openDatabase, runBench, runMeasured } from '../bench/bench-world.js'
import { startSimulator } from '../dist/extensions/simulator/server.js'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const DAYS = 10
const DAY_MS = 86_400_000
const [executablePath = '/usr/bin/chromium'] = process.argv.slice(2)
const fileOf = (name) => fileURLToPath(new URL(`../docs/images/${name}.png`, import.meta.url))

await runBench(async () => {
  const databaseUrl = await openDatabase({})
  const simulator = await startSimulator({
    seed: 7,
    shipments: 300,
    startAt: new Date(Date.now() - DAYS * DAY_MS),
    speed: 0,
    rateLimitPerMinute: null,
  })
  atEnd(() => simulator.close())
  const env = {
    DATABASE_URL: databaseUrl,
    TRACKING_API_URL: simulator.url,
    TRACKING_API_KEY: simulator.apiKey,
    TRACKING_LOG_LEVEL: 'silent',
    TRACKING_RATE_LIMIT_PER_MINUTE: '100000',
    TRACKING_VESSEL_POSITIONS: 'true',
    PORT: '0',
  }
  for (let day = 0; day <= DAYS; day += 1) {
    await run(['sync', '--json'], env)
    if (day < DAYS) simulator.clock.advance(DAY_MS)
  }
  for (const name of ['holidays', 'free-time-rules']) {
    const path = fileURLToPath(new URL(`../config/${name}.example.csv`, import.meta.url))
    await run(['rules', 'import', path], env)
  }
  const dashboard = spawn(process.execPath, [CLI, 'dashboard'], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  atEnd(async () => {
    dashboard.kill('SIGTERM')
    await once(dashboard, 'close')
  })
  const [line] = await once(dashboard.stdout.setEncoding('utf8'), 'data')
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  atEnd(() => browser.close())
  const page = await browser.newPage({ viewport: { width: 1280, height: 1300 } })
  const address = /http:\S+\d/.exec(line)[0]
  await show(page, address)
  await page.screenshot({ path: fileOf('dashboard') })
  await page.locator('#places').screenshot({ path: fileOf('map') })
  const [container] = await page
    .locator('#overdue a.number')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href')))
  await show(page, `${address}${container}`)
  await page.screenshot({ path: fileOf('container'), fullPage: true })
  return { files: ['dashboard', 'map', 'container'] }
})

async function run(args, env) {
  const { exitCode } = await runMeasured([CLI, ...args], env)
  if (exitCode !== 0) throw new Error(`${args[0]} ended with ${exitCode}`)
}

/** A page with late parts asks again by itself: goes there until nothing is late. */
async function show(page, address) {
  while ((await fetch(address)).headers.has('refresh'));
  await page.goto(address)
}
