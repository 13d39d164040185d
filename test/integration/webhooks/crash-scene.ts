import { sql } from 'kysely'
import { tmpdir } from 'node:os'
import { expect } from 'vitest'
import type { ResourceIdentifier, ResourceObject } from '../../../src/source/jsonapi/document.js'
import { createDice, type Dice } from '../../../src/extensions/simulator/world/dice.js'
import {
  startSimulator,
  WEBHOOK_EVENT_NAMES,
  type Simulator,
} from '../../../src/extensions/simulator/server.js'
import type { Warehouse } from '../../../src/warehouse/connection/warehouse.js'
import { compareWarehouse, SELDOM } from '../../support/compare-warehouse.js'
import { emptyWarehouse } from '../../support/empty-warehouse.js'
import { startCli, waitUntil, type RunningProgram } from '../../support/run-cli.js'
import { runTestSync } from '../../support/run-test-sync.js'
import { WEBHOOK_SECRET } from '../../support/test-receiver.js'
import { rawStatement } from '../../../src/warehouse/connection/typed-database.js'

/**
 * A service that sends what changes, a warehouse that was filled from it, and the address where
 * `serve` shall listen.
 */
export interface WebhookCrashScene {
  readonly simulator: Simulator
  readonly dice: Dice
  readonly warehouse: Warehouse
  readonly databaseUrl: string
  readonly httpPort: number
  readonly webhookId: string
  /** `container seal` of every change made by hand; no seal is used twice. */
  readonly seals: string[]
}

export interface SceneOptions {
  readonly number: number
  readonly warehouse: Warehouse
  readonly databaseUrl: string
  readonly httpPort: number
}

const START = new Date('2026-03-02T08:00:00Z')
const SHIPMENTS = 12
const CHANGES_PER_ROUND = 4
const SECOND = 1_000

/**
 * The service tries again a second later on its own clock, which the test moves: no retry is used
 * up while a process starts.
 */
const RETRY_DELAYS = Array.from({ length: 12 }, () => SECOND)

export async function openCrashScene(options: SceneOptions): Promise<WebhookCrashScene> {
  const { number, warehouse, databaseUrl, httpPort } = options
  const dice = createDice(number, 0x4e)
  await emptyWarehouse(warehouse)
  await watchSettlements(warehouse)
  const simulator = await startSimulator({
    seed: dice.integer(1, 1_000_000),
    shipments: SHIPMENTS,
    startAt: START,
    speed: 0,
    rateLimitPerMinute: null,
    webhooks: {
      concurrency: 8,
      retryClock: 'virtual',
      retryDelaysMs: RETRY_DELAYS,
      rerenderRetries: number % 2 === 0,
      deactivateAfter: null,
    },
  })
  await runTestSync({ warehouse, source: simulator })
  const { id: webhookId } = simulator.webhooks.create({
    url: `http://127.0.0.1:${httpPort}/webhooks`,
    active: true,
    events: WEBHOOK_EVENT_NAMES,
    secret: WEBHOOK_SECRET,
    headers: [],
  })
  simulator.webhooks.script.add({ disturbance: { kind: 'duplicate', copies: 3 }, share: 0.1 })
  return { simulator, dice, warehouse, databaseUrl, httpPort, webhookId, seals: [] }
}

/**
 * Every time a notification gets another state, in a table of the test's own: a second processing
 * would show.
 */
async function watchSettlements(warehouse: Warehouse): Promise<void> {
  for (const statement of [
    'create table if not exists public.settlements (notification_id text, state text)',
    'truncate public.settlements',
    `create or replace function public.note_settlement() returns trigger language plpgsql as
    'begin insert into public.settlements values (new.notification_id, new.state); return new; end'`,
    `create or replace trigger note_settlement after update of state on tracking_sync.webhook_notifications
    for each row when (old.state <> 'received' or new.state <> 'received') execute function public.note_settlement()`,
  ]) {
    await warehouse.query('watch settlements', rawStatement(statement))
  }
}

export type ServeParts = 'receiver' | 'processor'

const FLAGS = { receiver: '--no-processor', processor: '--no-receiver' }

/**
 * The built program, ready to receive or to apply; or killed already, where it finds enough to do
 * to reach its failpoint.
 */
export async function startServing(
  { simulator, databaseUrl, httpPort, webhookId }: WebhookCrashScene,
  parts: ServeParts,
  failpoint = '',
): Promise<RunningProgram> {
  const program = await startCli(['serve', '--no-scheduler', FLAGS[parts]], {
    directory: tmpdir(),
    deadlineMs: 280_000,
    env: {
      TRACKING_API_URL: simulator.url,
      TRACKING_API_KEY: simulator.apiKey,
      DATABASE_URL: databaseUrl,
      PORT: String(parts === 'processor' ? 0 : httpPort),
      TRACKING_PAGES_PORT: '0',
      TRACKING_WEBHOOK_SECRET: WEBHOOK_SECRET,
      TRACKING_WEBHOOK_IDS: webhookId,
      TRACKING_RATE_LIMIT_PER_MINUTE: '100000',
      TRACKING_LOG_LEVEL: 'silent',
      TRACKING_FAILPOINT: failpoint,
    },
  })
  let isGone = false
  void program.ended.finally(() => (isGone = true)).catch(() => undefined)
  await program.waitFor(({ stdout }) => /serving at \S+/.test(stdout()))
  const url = /serving at ([^\s,]+)/.exec(program.stdout())?.[1] ?? ''
  await waitUntil('serve is ready', async () => isGone || (await isReady(url)))
  return program
}

async function isReady(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/readyz`)
    await answer.arrayBuffer()
    return answer.ok
  } catch {
    return false
  }
}

/**
 * A second passes, some containers get new seals, and everything that is due is sent; resolves when
 * all of it was answered or has failed.
 */
export async function sendRound(scene: WebhookCrashScene): Promise<void> {
  const { simulator, dice, seals } = scene
  simulator.clock.advance(SECOND)
  const containers = [...simulator.world.records('container', simulator.clock.now())]
  for (let change = 0; change < CHANGES_PER_ROUND; change += 1) {
    // All different: of two changes in one second nobody could tell which came later.
    const at = dice.integer(0, containers.length - 1)
    const [{ id } = { id: '' }] = containers.splice(at, 1)
    const seal = `SEAL${seals.length}`
    simulator.edits.change('container', id, { seal_number: seal })
    seals.push(`${id} ${seal}`)
  }
  await simulator.webhooks.deliverDue()
}

/** Time passes at the service, nothing else changes by hand, until nothing is left to send. */
export async function deliverRest({ simulator }: WebhookCrashScene): Promise<void> {
  const { clock, webhooks } = simulator
  do {
    clock.advance(SECOND)
    await webhooks.deliverDue()
  } while (Object.values(webhooks.outstanding()).some((count) => count > 0))
}

/** Ids of notifications that were answered with success at least once. */
function acknowledged({ simulator }: WebhookCrashScene): string[] {
  return simulator.webhooks.notifications
    .filter((notification) =>
      attemptsOf(simulator, notification).some(({ succeeded }) => succeeded === true),
    )
    .map(({ id }) => id)
}

function attemptsOf(
  { webhooks }: Simulator,
  { relationships }: ResourceObject,
): Record<string, unknown>[] {
  const logs = relationships?.webhook_notification_logs?.data as readonly ResourceIdentifier[]
  return logs.map(({ id }) => webhooks.findLog(id)?.attributes ?? {})
}

/** I5: what was acknowledged and is not in the inbox. */
export async function lostDeliveries(scene: WebhookCrashScene): Promise<string[]> {
  const rows = await scene.warehouse.query(
    'look for what is lost',
    sql<{ id: string }>`select id from unnest(${acknowledged(scene)}::text[]) as given (id)
    where not exists (select from tracking_sync.webhook_notifications where notification_id = id)`,
  )
  return rows.map(({ id }) => id)
}

export async function waitUntilApplied({ warehouse }: WebhookCrashScene): Promise<void> {
  await waitUntil(
    'notifications are applied',
    async () => {
      const waiting = await warehouse.query(
        'look for what waits',
        sql`select notification_id from tracking_sync.webhook_notifications where state = 'received' limit 1`,
      )
      return waiting.length === 0
    },
    60_000,
  )
}

/**
 * Rules that must hold once everything was delivered and applied: every notification is
 * acknowledged and processed once, each change reported by hand is there once, and after one sync
 * the warehouse is equal to the service.
 */
export async function expectEverythingOnce(scene: WebhookCrashScene): Promise<void> {
  const { simulator, warehouse, seals } = scene
  const { notifications } = simulator.webhooks
  const statuses = notifications.map(({ attributes }) => attributes?.delivery_status)
  expect(new Set(statuses)).toEqual(new Set(['succeeded']))
  expect(await lostDeliveries(scene)).toEqual([])
  const settlements = await warehouse.query(
    'look at the settlements',
    sql<{ id: string; state: string }>`select notification_id as id, state from public.settlements`,
  )
  expect(new Set(settlements.map(({ state }) => state))).toEqual(new Set(['processed']))
  expect(settlements.map(({ id }) => id).sort()).toEqual(notifications.map(({ id }) => id).sort())
  const changes = await warehouse.query(
    'look at the changes',
    sql<{ change: string }>`select container_id || ' ' || (new_value #>> '{}') as change
    from tracking.container_changes where attribute = 'seal_number'`,
  )
  expect(changes.map(({ change }) => change).sort()).toEqual([...seals].sort())
  simulator.clock.advance(2 * SECOND)
  const { exitCode, problems } = await runTestSync({
    warehouse,
    source: simulator,
    command: 'sync',
  })
  expect({ exitCode, problems }).toEqual({ exitCode: 0, problems: [] })
  const { world, clock } = simulator
  expect(await compareWarehouse(warehouse, world, clock.now(), { mayLack: SELDOM })).toEqual([])
}
