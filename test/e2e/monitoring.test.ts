import { spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OPERATION_ALERTS } from '../../src/status/operation-alerts.js'
import { ACCOUNT_METRICS } from '../../src/extensions/accounts/serve/account-metrics.js'
import { differencesFrom } from '../support/look-at-cli-rows.js'
import { repositoryDirectory, waitUntil, type RunningProgram } from '../support/run-cli.js'
import { useFolder } from '../support/temp-folder.js'
import {
  closeServeScenes,
  logLines,
  metricOf,
  openServeScene,
  untilSynced,
  type ServeScene,
} from './serve-scene.js'

const read = (path: string): Promise<string> => readFile(join(repositoryDirectory, path), 'utf8')
const RULES = join(repositoryDirectory, 'config/prometheus-rules.yml')

interface Panel {
  readonly title: string
  readonly targets?: readonly { readonly expr?: string }[]
}

const { panels } = JSON.parse(await read('config/grafana-dashboard.json')) as {
  readonly panels: readonly Panel[]
}
/** As Grafana sends them. */
const queries = panels.flatMap(({ title, targets = [] }) =>
  targets.flatMap(({ expr }) =>
    expr === undefined
      ? []
      : [{ title, text: expr.replaceAll('$job', '.+').replaceAll('$__rate_interval', '5m') }],
  ),
)
const alerts = [...(await readFile(RULES, 'utf8')).matchAll(/alert: (\w+)\n\s+expr: (.+)/g)].map(
  ([, title, text]) => ({ title: title!, text: text! }),
)

let scene: ServeScene
let program: RunningProgram
/** Output of `/metrics` after a sync and a delivery. */
let metrics: string

beforeAll(async () => {
  scene = await openServeScene({ isMigrated: false })
  const { simulator } = scene
  program = await scene.serve()
  await untilSynced(scene)
  const [container] = [...simulator.world.records('container', simulator.clock.now())]
  simulator.clock.advance(60_000)
  simulator.edits.change('container', container!.id, { weight_in_lbs: 12_345 })
  await waitUntil('the run and a delivery are told', async () => {
    const { text } = await scene.get('/metrics')
    metrics = text
    const applied = metricOf(text, 'notifications_handled_total{result="processed"}') ?? 0
    return metricOf(text, 'last_run_failed') === 0 && applied > 0
  })
})

afterAll(closeServeScenes)

describe('the metrics', () => {
  it('are made once a second at most', { tags: ['FB6'] }, async () => {
    const cpuOf = (text: string): string | undefined =>
      text.split('\n').find((line) => line.startsWith('process_cpu_seconds_total'))
    const startedAt = performance.now()
    const asked: { readonly text: string }[] = []
    for (let round = 0; round < 6; round += 1) {
      asked.push(...(await Promise.all(Array.from({ length: 50 }, () => scene.get('/metrics')))))
    }
    const seconds = (performance.now() - startedAt) / 1000
    const made = new Set(asked.map(({ text }) => cpuOf(text)))
    expect(made.size).toBeLessThanOrEqual(Math.floor(seconds) + 2)
  })

  it('tell of the last run and of the lag of webhooks', { tags: ['FD13'] }, () => {
    const changes = ['inserted', 'updated', 'tombstoned', 'quarantined', 'stale', 'coerced']
    const rows = changes.map((change) => `last_run_rows{stream="shipments",change="${change}"}`)
    expect(rows.map((name) => metricOf(metrics, name))).toEqual([12, 0, 0, 0, 0, 0])
    const duration = 'last_run_duration_seconds{command="sync",outcome="complete"}'
    expect(metricOf(metrics, duration)).toBeGreaterThan(0)
    expect(metricOf(metrics, 'oldest_unprocessed_notification_age_seconds')).toBe(0)
    const lag = metricOf(metrics, 'notification_lag_seconds_total')
    expect(lag).toBeGreaterThan(0)
    expect(lag).toBeLessThan(60)
  })

  it('leave to Prometheus the labels that it sets itself', () => {
    expect(metrics).not.toMatch(/[{,](?:job|instance)="/)
  })
})

describe('the rules and the dashboard', { tags: ['FD13'] }, () => {
  it('have a rule for each alert of the status', () => {
    expect(alerts.map(({ title }) => title)).toEqual(expect.arrayContaining([...OPERATION_ALERTS]))
  })

  it('ask for metrics and labels that there are', () => {
    // Those of accounts are told by a process that serves several.
    const ofAccounts = Object.keys(ACCOUNT_METRICS).map(
      (name) => `# TYPE tracking_sync_${name} gauge`,
    )
    const lines = [...metrics.split('\n'), ...ofAccounts]
    for (const { title, text } of [...alerts, ...queries]) {
      // This server lacks a replication slot; another test compares the label of slots.
      const grouped = [...text.matchAll(/by \((?!slot\))(\w+)\)/g)].map(
        ([, label]) => `${label!}="`,
      )
      const selected = [...text.matchAll(/\b((?:tracking_sync|process)_\w+)(?:\{(.*?)\})?/g)]
      if (selected.length === 0) expect(text).toMatch(/\b(?:up|ALERTS)\{/)
      for (const [, name, matchers = ''] of selected) {
        const wanted = [...matchers.matchAll(/\w+="[^"]*"/g)].map(([matcher]) => matcher)
        const parts = [...wanted, ...grouped]
        const found = lines
          // The metric for the disk of the embedded database is absent here.
          .filter((line) => new RegExp(`^(?:# TYPE )?${name!}[ {]`).test(line))
          .some((line) => parts.every((part) => line.includes(part)))
        expect({ title, name, parts, found }).toEqual({ title, name, parts, found: true })
      }
    }
  })
})

/** Last, for it ends the program. */
it('serve filled an empty warehouse and followed by webhooks', { tags: ['JE5'] }, async () => {
  const { simulator, database } = scene
  const catalogue = await scene.select('select from tracking.webhook_event_categories')
  expect(catalogue.length).toBeGreaterThan(3)
  await waitUntil('nothing waits', async () => {
    const { text } = await scene.get('/metrics')
    const waiting = ['notifications{state="received"}', 'refetch_queue']
    return waiting.every((name) => metricOf(text, name) === 0)
  })
  expect(await scene.select('select command from tracking_sync.sync_runs')).toHaveLength(1)
  const differences = await differencesFrom(simulator.world, simulator.clock.now(), database.url)
  // It moves with the clock every few hours, and no notification tells of it.
  expect(differences.filter((one) => !one.includes('last_tracking_request_at'))).toEqual([])
  expect(await scene.select('select is_ours, alert from tracking_sync.webhooks')).toEqual([
    { is_ours: true, alert: null },
  ])
  program.kill('SIGTERM')
  expect(await program.ended).toMatchObject({
    exitCode: 0,
    stdout: `serving at ${scene.url}, webhooks at /webhooks, pages at ${scene.pagesUrl}\n`,
  })
  expect(logLines(program, 'stopped')).toHaveLength(1)
})

if (spawnSync('promtool', ['--version']).error !== undefined) {
  it('WERE NOT CHECKED BY PROMTOOL: install prometheus', () => {
    expect(spawnSync('promtool').error).toBeDefined()
    process.stderr.write('PROMTOOL IS NOT INSTALLED: it did not check the metrics and rules.\n')
  })
} else {
  describe('promtool takes', { tags: ['FD13'] }, () => {
    seeByPromtool()
  })
}

function seeByPromtool(): void {
  const promtool = (args: readonly string[], input = ''): unknown => {
    const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' })
    return status === 0 && stderr === '' ? 'taken' : { status, stdout, stderr }
  }
  const folder = useFolder('file')
  const write = async (name: string, text: string): Promise<string> => {
    await writeFile(join(folder.path, name), text)
    return join(folder.path, name)
  }

  it('the metrics', () => {
    expect(promtool(['check', 'metrics'], metrics)).toBe('taken')
  })

  it('the rules, which fire when they must and only then', () => {
    const tests = join(repositoryDirectory, 'test/fixtures/prometheus-rules.test.yml')
    expect(promtool(['check', 'rules', '--lint-fatal', RULES])).toBe('taken')
    expect(promtool(['test', 'rules', tests])).toBe('taken')
  })

  it('the queries of the dashboard', async () => {
    const rules = queries.map(({ text }, at) => ({ record: `query:${at}`, expr: text }))
    const file = await write('queries.yml', JSON.stringify({ groups: [{ name: 'all', rules }] }))
    expect(promtool(['check', 'rules', '--lint-fatal', file])).toBe('taken')
  })

  it('the job of the documents', async () => {
    const [, text = ''] = /```yaml\n([\s\S]*?)```/.exec(await read('docs/metrics.md'))!
    const file = await write('prometheus.yml', text.replace('prometheus-rules.yml', RULES))
    expect(promtool(['check', 'config', file])).toBe('taken')
  })
}
