import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { listLakeTables } from '../../../src/extensions/lake/lake-tables.js'
import { carryOut } from '../../../src/extensions/accounts/distribute/distribute-warehouse.js'
import { planDistribution } from '../../../src/extensions/accounts/distribute/plan-distribution.js'
import { callCli, refusalOf, settingsOf, type CliCall } from '../../support/call-cli.js'
import { brokenRules } from '../../support/distributed-rules.js'
import { startSameWorld } from '../../support/simulate-cli.js'
import { collectStatements } from '../../support/statement-recorder.js'
import { installStandIn, standInCalls } from '../../support/stand-in-citus.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'
import { rawStatement } from '../../../src/warehouse/connection/typed-database.js'

type StandIn = Parameters<typeof installStandIn>[1]

async function openWith(standIn: StandIn): Promise<TestWarehouse> {
  const made = await createTestWarehouse()
  if (standIn !== undefined) await installStandIn(made.warehouse, standIn)
  await made.run`
    insert into tracking.containers (container_id, _observed_at, _first_seen_at, _changed_at)
    select 'c' || n, now(), now(), now() from generate_series(1, 7) as n`
  return made
}

/** For one test. */
async function open(standIn?: StandIn): Promise<TestWarehouse> {
  const made = await openWith(standIn)
  onTestFinished(made.drop)
  return made
}

function distribute({ url }: TestWarehouse, ...flags: readonly string[]): Promise<CliCall> {
  return callCli(['database', 'distribute', ...flags], { DATABASE_URL: url })
}

/** Comments and views, which a distribution removes for a while. */
async function standing({ column }: TestWarehouse): Promise<unknown> {
  const comments = await column`
    select count(*) as count from pg_description
    inner join pg_class on pg_class.oid = objoid and classoid = 'pg_class'::regclass
    inner join pg_namespace on pg_namespace.oid = relnamespace
    where starts_with(nspname, 'tracking') and not starts_with(relname, 'rows_of_')`
  const views = await column`
    select schemaname || '.' || viewname from pg_views
    where starts_with(schemaname, 'tracking') order by 1`
  return { comments, views }
}

describe('a warehouse is distributed, step by step', { tags: ['O1'] }, () => {
  let scene: TestWarehouse
  let before: unknown
  let settings: Record<string, string>
  const check = async () => (await callCli(['check'], settings)).stdout.replaceAll(/\s+/g, ' ')
  const callsSince = async (count: number) => (await standInCalls(scene.warehouse)).slice(count)

  beforeAll(async () => {
    scene = await openWith({})
    before = await standing(scene)
    settings = { DATABASE_URL: scene.url }
  })
  afterAll(() => scene.drop())

  it('--dry-run prints statements and rows, and does nothing', async () => {
    const printed = await distribute(scene, '--by', 'schema', '--dry-run')
    expect(printed).toMatchObject({ exitCode: 0 })
    expect(printed.stdout).toMatch(/"tracking"\."containers" +7\n/)
    expect(printed.stdout).toContain('Nodes that take tables: node-1:5432, node-2:5432.')
    expect(printed.stdout).toContain(
      `  select create_distributed_table('"tracking"."ports"', null, colocate_with => '"tracking"."containers"');`,
    )
    expect(await standInCalls(scene.warehouse)).toEqual([])
  })

  it('stopped at its end it changes nothing', { tags: ['release'] }, async () => {
    const plan = await planDistribution(scene.warehouse)
    const stop = new AbortController()
    const stopped = carryOut(scene.warehouse, plan, {
      signal: stop.signal,
      onProgress: (_, done) => {
        if (done === plan.statements.length) stop.abort()
      },
    })
    await expect(stopped).rejects.toMatchObject({ name: 'AbortError' })
    expect(await standInCalls(scene.warehouse)).toEqual([])
    expect(await standing(scene)).toEqual(before)
  })

  it('puts every table of data on one node, once, and says so', { tags: ['release'] }, async () => {
    const undistributed = await listLakeTables(scene.warehouse)
    expect(undistributed.some(({ relation }) => relation !== undefined)).toBe(true)
    const call = await distribute(scene, '--by', 'schema')
    expect(call).toMatchObject({ exitCode: 0 })
    expect(call.stdout).toMatch(/^\d+ rows of 33 tables moved; tracking stands on node-1:5432\./)
    const calls = await standInCalls(scene.warehouse)
    const moved = calls.filter((text) => text.startsWith('create_distributed_table'))
    expect(moved[0]).toBe('create_distributed_table tracking.containers null none')
    expect(moved).toContain(
      'create_distributed_table tracking.transport_events null "tracking"."containers"',
    )
    expect(moved).toHaveLength(33)
    expect(moved.filter((text) => text.includes('tracking_sync'))).toEqual([
      'create_distributed_table tracking_sync.event_lists_in_doubt null "tracking"."containers"',
      'create_distributed_table tracking_sync.transport_event_checks null "tracking"."containers"',
    ])
    expect(calls.some((text) => text.includes('ask_for_request'))).toBe(false)
    expect(calls).toContain('truncate_local_data tracking.containers')
    expect(await standing(scene)).toEqual(before)
    // An export of a distributed warehouse tells changes of no table by transactions.
    const exported = await listLakeTables(scene.warehouse)
    expect(exported.filter(({ relation }) => relation !== undefined)).toEqual([])
    expect(exported.map(({ name }) => name)).toEqual(undistributed.map(({ name }) => name))
    expect(await distribute(scene, '--by', 'schema')).toMatchObject({ exitCode: 0 })
    const since = await callsSince(calls.length)
    expect(since.filter((text) => text.startsWith('create_'))).toEqual([])

    expect(await check()).toMatch(
      /ok nodes by schema with Citus 13\.2-1: 33 tables on node-1:5432; nodes: node-1:5432 [\d.]+ MiB \(100 %\), node-2:5432 0\.0 MiB \(0 %\)/,
    )
    for (const [command, sentence] of [
      [['database', 'store-views'], 'its views are not stored'],
      [['migrate', '--customers'], 'nothing was changed: the warehouse is distributed'],
    ] as const) {
      const refused = await refusalOf(callCli(command, settings))
      expect(refused).toMatch(new RegExp(`^5 .*${sentence}`))
    }
    expect(await scene.rows`select from pg_policy`).toEqual([])
  })

  it('an upgrade distributes what is new, and what was left', { tags: ['release'] }, async () => {
    // As before the last migration that made a table of data, and as if an earlier one had failed
    // to move its own.
    for (const text of [
      `delete from tracking_sync.migrations where name >= '0009'`,
      `select undistribute_table('tracking.raw_events')`,
      'drop table tracking.raw_events, tracking_sync.raw_event_reads cascade',
      'drop table tracking_sync.delivery_refusals, tracking_sync.access_tokens',
      'alter table tracking.containers add column raw_event_ids text[]',
      `alter table tracking_analytics.free_time_rules
        ${[
          ...['reported', 'equipment_height', 'customer', 'tag', 'ref', 'first_day', 'tier_counts'],
          ...['charged', 'until', 'valid_by', 'minimum', 'cap'],
        ]
          .map((column) => `drop column ${column} cascade`)
          .join(', ')},
        drop constraint free_time_rules_charge_is_a_word,
        drop constraint free_time_rules_starts_with_is_known,
        add constraint free_time_rules_charge_is_known check (charge <> '')`,
      'create index free_time_rules_rank_idx on tracking_analytics.free_time_rules (charge)',
      'alter table tracking_analytics.free_time_tiers drop column per cascade',
      'drop table tracking_analytics.working_calendars cascade',
      `alter table tracking_analytics.dd_invoices
        drop column paid_amount cascade, drop column paid_on cascade`,
      'drop index tracking.shipments_destination_locode_idx',
      `drop function tracking_analytics.cost_up_to, tracking_analytics.charge_for,
        tracking_analytics.is_other_voyage cascade`,
      `select undistribute_table('tracking_analytics.holidays')`,
    ]) {
      await scene.warehouse.query('go back', rawStatement(text))
    }
    const fix = 'run `tracking-sync database distribute --by schema`'
    expect(await check()).toContain(`"tracking_analytics"."holidays" not distributed; ${fix}`)
    const sofar = (await standInCalls(scene.warehouse)).length
    const issued = await collectStatements(async () => {
      expect(await callCli(['migrate'], settings)).toMatchObject({ exitCode: 0 })
    })
    expect(issued.filter((text) => brokenRules(text).length > 0)).toEqual([])
    const isMove = (text: string): boolean => /^create_(?!distributed_function)/.test(text)
    expect((await callsSince(sofar)).filter(isMove).sort()).toEqual([
      'create_distributed_table tracking.raw_events null "tracking"."containers"',
      'create_distributed_table tracking_analytics.holidays null "tracking"."containers"',
      'create_distributed_table tracking_analytics.working_calendars null "tracking"."containers"',
    ])
    const after = await check()
    expect(after).toContain('ok schema tracking is at version 19')
    expect(after).not.toContain('not distributed')
  })

  it('--undo brings all of it back', { tags: ['release'] }, async () => {
    const sofar = (await standInCalls(scene.warehouse)).length
    expect(await distribute(scene, '--undo')).toMatchObject({ exitCode: 0 })
    const back = await callsSince(sofar)
    expect(back).toHaveLength(33)
    expect(back).toContain('undistribute_table tracking.containers')
    expect(await standing(scene)).toEqual(before)
    const nothing = await distribute(scene, '--undo')
    expect(nothing.stdout).toBe('0 rows of 0 tables brought back.\n')
    expect(await check()).not.toContain('nodes')
  })
})

it('rows by container are refused by every command', { tags: ['O2'] }, async () => {
  const scene = await open({})
  await scene.run`
    insert into pg_catalog.pg_dist_partition
    select 'tracking.containers', 'h', 's', 3, 'container_id'`
  const simulator = await startSameWorld()
  const settings = settingsOf(simulator, scene.url)
  for (const command of [
    ['database', 'distribute', '--by', 'schema'],
    ['database', 'distribute', '--undo'],
    ['migrate'],
    ['check'],
    ['query', 'select 1'],
    ['export', 'parquet', '--out', 'lake'],
    ['sync'],
  ]) {
    const { exitCode, stdout, stderr } = await callCli(command, settings)
    expect({ command, exitCode }).toEqual({ command, exitCode: 5 })
    expect((stdout + stderr).replaceAll(/\s+/g, ' ')).toContain(
      'the rows of tracking are spread over nodes by container; this version cannot read them. ' +
        'Bring them back with `tracking-sync distribute --undo` of the version that spread them',
    )
  }
  expect(await standInCalls(scene.warehouse)).toEqual([])
  expect(simulator.requests.total).toBeLessThan(10)
  await simulator.close()
})

describe('distribute refuses, and changes nothing:', { tags: ['O1', 'O2', 'release'] }, () => {
  it.each([
    ['a server without Citus', undefined, 'the database lacks Citus'],
    ['an old Citus', { version: '11.3-1' }, 'Citus 11.3-1 is too old; use 12 or later'],
    ['a cluster without a node', { nodes: 0 }, 'no node of Citus takes tables'],
  ] as const)('%s', async (_, standIn, sentence) => {
    const scene = await open(standIn)
    const views = await standing(scene)
    const refused = await refusalOf(distribute(scene, '--by', 'schema'))
    expect(refused).toMatch(new RegExp(`^5 .*${sentence}`))
    if (standIn !== undefined) expect(await standInCalls(scene.warehouse)).toEqual([])
    expect(await standing(scene)).toEqual(views)
  })

  it('what somebody put on our tables, and an empty database', async () => {
    const scene = await open({})
    const run = (text: string) => scene.warehouse.query('prepare', rawStatement(text))
    const views = await standing(scene)
    for (const [prepared, undone, sentence] of [
      [
        `insert into pg_catalog.pg_dist_partition values ('tracking.containers', 'h', 's', 3)`,
        'delete from pg_catalog.pg_dist_partition',
        'was distributed in another way',
      ],
      [
        'create view public.own as select container_id from tracking_analytics.attention',
        'drop view public.own',
        'view public.own',
      ],
      [
        'create publication own for table tracking.ports',
        'drop publication own',
        '`drop publication`); drop first: publication own',
      ],
      [
        'create view public.own as select 1 / 0 as one from tracking.ports',
        'drop view public.own',
        'the view public.own would become unreadable',
      ],
    ] as const) {
      await run(prepared)
      const refused = await refusalOf(distribute(scene, '--by', 'schema'))
      expect(refused).toMatch(/^5 /)
      expect(refused).toContain(sentence)
      await run(undone)
      expect(await standing(scene)).toEqual(views)
    }
    expect(await standInCalls(scene.warehouse)).toEqual([])
    const empty = await createTestWarehouse({ isMigrated: false })
    onTestFinished(empty.drop)
    const call = await distribute(empty, '--by', 'schema')
    expect(call).toMatchObject({ exitCode: 5 })
    expect(call.stderr).toContain('run `tracking-sync backfill` first')
  })
})
