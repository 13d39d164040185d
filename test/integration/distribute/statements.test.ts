import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { callCli, settingsOf } from '../../support/call-cli.js'
import { brokenRules, reachOf } from '../../support/distributed-rules.js'
import { importExamples } from '../../support/scenes/charges.js'
import { collectStatements } from '../../support/statement-recorder.js'
import { closeScenes, HOUR, openScene } from '../sync/sync-scene.js'
import { notification, openBench, store } from '../webhooks/process-scene.js'

afterAll(closeScenes)

/**
 * Statements over rows on a node and rows on the coordinator, by their first words. Each ran on a
 * cluster; run a new one there before you add it.
 */
const TRIED_ON_BOTH = [
  'insert into "tracking_sync"."refetch_queue" (resource_type',
  // For deriving again.
  'with stated as (',
]

/** A load, syncs with changes and deletions, a notification, and commands. */
async function workOfDays(): Promise<void> {
  const scene = await openScene({ shipments: 12 })
  await scene.sync({ command: 'backfill' })
  const { simulator, warehouse } = scene
  const [first = '', second = ''] = scene.ids('shipment')
  simulator.edits.delete('shipment', first)
  for (let run = 0; run < 3; run += 1) {
    simulator.clock.advance(24 * HOUR)
    await scene.sync({ command: 'sync' })
  }
  const bench = openBench(warehouse, simulator)
  await store(
    warehouse,
    notification({
      id: 'one',
      event: 'shipment.estimated.arrival',
      reference: { type: 'shipment', id: second },
    } as never),
  )
  await bench.settle()
  await bench.close()
  await scene.run`update tracking.ports set _observed_at = now() + interval '2 years'`
  // Like after an upgrade that derives again.
  await scene.run`delete from tracking_sync.derivations`
  await scene.sync({ command: 'backfill' })
  const more = { TRACKING_RATE_LIMIT_PER_MINUTE: '100000' }
  const settings = { ...settingsOf(simulator, scene.url), ...more }
  await importExamples(settings)
  for (const command of COMMANDS) {
    const { exitCode, stderr } = await callCli(command.split(' '), settings)
    expect({ command, exitCode, stderr }).toMatchObject({ command, exitCode: 0 })
  }
}

const COMMANDS = [
  ...['rules export', 'rules export --holidays', 'invoices export', 'check', 'status', 'plan'],
  ...['verify', 'alerts list', 'webhooks replay --all', 'quarantine list'],
  ...['quarantine retry --all', 'export parquet --out lake'],
]

describe('statements of a distributed warehouse', { tags: ['O3'] }, () => {
  it('break no rule of the nodes, from load to commands', { tags: ['release'] }, async () => {
    const issued = await collectStatements(workOfDays)
    const statements = issued.filter((text) => reachOf(text).away.length > 0)
    expect(statements.length).toBeGreaterThan(60)
    const broken = statements.flatMap((text) =>
      brokenRules(text).map((rule) => `${rule}: ${text.slice(0, 200)}`),
    )
    expect(broken).toEqual([])
    const onBoth = statements.filter((text) => {
      const isMigration = /create (?:or replace )?(?:schema|table|view|unlogged)/.test(text)
      return reachOf(text).here.length > 0 && !isMigration
    })
    const isTried = (text: string): boolean =>
      TRIED_ON_BOTH.some((begin) => text.replace(/\s+/g, ' ').trim().startsWith(begin))
    expect(onBoth.filter((text) => !isTried(text)).map((text) => text.slice(0, 300))).toEqual([])
  })

  it('no function that a view or a write calls reads a table: the nodes run them', () => {
    const folder = fileURLToPath(new URL('../../../sql/migrations/', import.meta.url))
    const texts = readdirSync(folder).map((name) => readFileSync(`${folder}/${name}`, 'utf8'))
    const functions = texts.flatMap((text) => [
      ...text.matchAll(/create function (\S+?)\(([\s\S]*?)\$function\$;/g),
    ])
    expect(functions.length).toBeGreaterThan(8)
    const reading = functions.filter(
      ([, , body = '']) =>
        /\blanguage sql\b/.test(body) &&
        /\b(?:from|join)\s+\{\{\w+\}\}\.\w+(?!\w*\()(?:\s|$)/.test(body),
    )
    expect(reading.map(([, name]) => name)).toEqual([])
  })
})
