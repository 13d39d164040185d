import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { silentLogger } from '../../../src/base/logger.js'
import { installViews } from '../../../src/warehouse/schema/install-views.js'
import { readViews } from '../../../src/warehouse/schema/shipped-views.js'
import { createRoles } from '../../../src/warehouse/schema/roles.js'
import { closeKilledRuns } from '../../../src/warehouse/bookkeeping/sync-runs.js'
import { answersExtension } from '../../../src/extensions/answers/answers-extension.js'
import { storeViews } from '../../../src/extensions/answers/store-views.js'
import { STORED_VIEWS } from '../../../src/extensions/answers/stored-views.js'
import { createWarehouse } from '../../../src/warehouse/connection/warehouse.js'
import { callCli } from '../../support/call-cli.js'
import { isOnCitus } from '../../support/distributed-database.js'
import { openLogins, type Logins } from '../../support/scenes/logins.js'
import { closeScenes, openLoadedScene, openScene, type Scene } from '../sync/sync-scene.js'

// In reverse order: the connections of a test end before their database is dropped.
beforeEach((test) => {
  test.onTestFinished(closeScenes)
})

const NAMES = STORED_VIEWS.map(({ name }) => name)

const INSTALLING = {
  sleep: () => Promise.resolve(),
  storedViews: answersExtension.storedViews!,
}

const options = { logger: silentLogger, signal: new AbortController().signal }

/** A few views are enough to test rules that hold for each view by itself. */
const SOME = ['timeline', 'evidence', 'attention', 'datasync_containers']
const some = { ...options, views: STORED_VIEWS.filter(({ name }) => SOME.includes(name)) }

/**
 * Of each stored view: its rows, how many of them are stored ones, and 1 where they differ from
 * those of the view itself. Each is read once. `hours` goes on between the two readings.
 */
async function compare(scene: Scene, names = NAMES): Promise<Record<string, unknown>[]> {
  const rows = names.map((name) => {
    const source = `analytics.${name}`.replace('analytics.datasync_', 'datasync.')
    return `select '${name}' as name, own.rows, own.stored,
      ((own.rows, own.digest) is distinct from (source.rows, source.digest))::int as differing
    from (
      select count(*)::int as rows, count(_stored_at)::int as stored,
        sum(hashtextextended((to_jsonb(shown) - '{_stored_at,hours}'::text[])::text, 0)) as digest
      from tracking_stored.${name} as shown
    ) as own, (
      select count(*)::int as rows,
        sum(hashtextextended((to_jsonb(shown) - 'hours')::text, 0)) as digest
      from tracking_${source} as shown
    ) as source`
  })
  return scene.query(rows.join(' union all '))
}

/** Relations of the stored views, of which a new account has none. */
async function storedRelations(scene: Scene): Promise<string[]> {
  const rows = await scene.query<{ name: string }>(
    `select relname::text as name from pg_class
    where relkind in ('r', 'v')
      and (relnamespace = 'tracking_stored'::regnamespace or relname like 'rows\\_of\\_%')
    order by 1`,
  )
  return rows.map(({ name }) => name)
}

/** Two shipments, with a few of their views stored. */
async function openStored(): Promise<Scene> {
  const scene = await openLoadedScene({ shipments: 2 })
  await storeViews(scene.warehouse, some)
  return scene
}

const total = (rows: readonly Record<string, unknown>[], key: string): number =>
  rows.reduce((sum, row) => sum + Number(row[key]), 0)

describe.skipIf(isOnCitus)('stored views', { tags: ['release'] }, () => {
  it('are made when they are first stored, hold what the views say, and are not stored again while nothing changes', async () => {
    const scene = await openLoadedScene({ shipments: 4 })
    expect(await storedRelations(scene)).toEqual([])
    const stored = await storeViews(scene.warehouse, options)
    expect(stored.map(({ name }) => name)).toEqual(NAMES)
    const rows = await compare(scene)
    expect(rows.map(({ name }) => name)).toEqual(NAMES)
    expect(total(rows, 'rows')).toBeGreaterThan(100)
    expect(total(rows, 'stored')).toBe(total(rows, 'rows'))
    expect(total(rows, 'differing')).toBe(0)
    expect(await storedRelations(scene)).toHaveLength(2 * NAMES.length)

    await scene.sync({ command: 'sync' })
    expect(await storeViews(scene.warehouse, options)).toEqual([])

    // Also texts that are longer than an index entry can be.
    const long = `(select string_agg(md5(number::text), '') from generate_series(1, 3000) as number)`
    await scene.query(`update tracking.shipments set shipping_line_scac = ${long}`)
    await scene.query(`update tracking.terminals set firms_code = ${long}`)
    await scene.query(`update tracking.transport_events set event = ${long}`)
    await scene.query('delete from tracking_sync.stored_views')
    expect((await storeViews(scene.warehouse, options)).map(({ name }) => name)).toEqual(NAMES)
    const longer = await compare(scene)
    expect(total(longer, 'rows')).toBeGreaterThan(100)
    expect(total(longer, 'stored')).toBe(total(longer, 'rows'))
  })

  it('are stored from so many containers on, stay as they were until they are stored again, and are gone after a crash of the server', async () => {
    const scene = await openLoadedScene({ shipments: 4 })
    const [{ count } = {}] = await scene.query('select count(*)::int from tracking.containers')
    const fromContainers = Number(count)
    const tooMany = { ...some, fromContainers: fromContainers + 1 }
    expect(await storeViews(scene.warehouse, tooMany)).toEqual([])
    const enough = await storeViews(scene.warehouse, { ...some, fromContainers })
    expect(enough).toHaveLength(SOME.length)
    const instants = `select min(_stored_at) as at, count(distinct _stored_at)::int as times
      from tracking_stored.datasync_containers`
    const [first] = await scene.query(instants)
    scene.simulator.clock.advance(3 * 86_400_000)
    await scene.sync({ command: 'sync' })
    expect(total(await compare(scene, SOME), 'differing')).toBeGreaterThan(0)
    const stored = await storeViews(scene.warehouse, some)
    expect(stored.map(({ name }) => name)).toEqual(SOME)
    const rows = await compare(scene, SOME)
    expect(total(rows, 'differing')).toBe(0)
    const [second] = await scene.query(instants)
    expect(second?.times).toBe(1)
    expect(String(second?.at) > String(first?.at)).toBe(true)

    // It empties the tables.
    const unlogged = await scene.query<{ name: string }>(
      `select relname as name from pg_class
      where relpersistence = 'u' and relkind = 'r'
        and (relname like 'rows\\_of\\_%' or relname = 'stored_views')`,
    )
    expect(unlogged).toHaveLength(SOME.length + 1)
    await scene.query(`truncate ${unlogged.map(({ name }) => `tracking_sync.${name}`).join(', ')}`)
    const after = await compare(scene, SOME)
    expect([total(after, 'stored'), total(after, 'differing')]).toEqual([0, 0])
    expect(total(after, 'rows')).toBeGreaterThan(50)
  })

  it('are read while they are being stored, and stored while somebody reads and a run writes: the rows of before', async () => {
    const scene = await openStored()
    const question = `select count(*)::int as rows, min(_stored_at) as at
      from tracking_stored.timeline`
    const reader = new pg.Client({ connectionString: scene.url })
    const holder = new pg.Client({ connectionString: scene.url })
    for (const client of [reader, holder]) {
      await client.connect()
      onTestFinished(() => client.end())
    }
    await holder.query('begin isolation level repeatable read')
    const { rows: held } = await holder.query(question)
    scene.simulator.clock.advance(86_400_000)
    await scene.sync({ command: 'sync' })
    await reader.query(`set lock_timeout = '1s'`)
    const seen: Record<string, unknown>[] = []
    // Before each transaction ends, when it holds all that it ever will.
    const watched: typeof scene.warehouse = {
      ...scene.warehouse,
      transaction: (action, work) =>
        scene.warehouse.transaction(action, async (session) => {
          const result = await work(session)
          const [, name] = /^store (\w+)$/.exec(action) ?? []
          if (name === undefined) return result
          const { rows } = await reader.query<Record<string, unknown>>(
            `select count(*)::int as rows, count(distinct _stored_at)::int as times from tracking_stored.${name}`,
          )
          seen.push({ name, ...rows[0] })
          // One process at a time, and no run waits for it.
          expect(await storeViews(scene.warehouse, some)).toEqual([])
          scene.simulator.clock.advance(3_600_000)
          expect(await scene.sync({ command: 'sync' })).toMatchObject({ outcome: 'complete' })
          return result
        }),
    }
    const before = await scene.query(
      'select view_name as name, rows::int, least(rows, 1)::int as times from tracking_sync.stored_views order by 1',
    )
    expect(await storeViews(watched, some)).toHaveLength(SOME.length)
    expect(seen.sort((one, two) => (String(one.name) < String(two.name) ? -1 : 1))).toEqual(before)
    expect((await holder.query(question)).rows).toEqual(held)
    await holder.query('commit')
    expect((await holder.query(question)).rows).not.toEqual(held)
  })

  it('are stored again after a killed run and a notification, and go with the view they are of', async () => {
    const scene = await openStored()
    const run = (statement: string) => scene.query(statement)
    await run(
      `insert into tracking_sync.sync_runs (command, options, program_version)
      values ('sync', '{}', 'killed')`,
    )
    expect(await storeViews(scene.warehouse, some)).toEqual([])
    await closeKilledRuns(scene.warehouse)
    expect(await storeViews(scene.warehouse, some)).toHaveLength(SOME.length)
    expect(await storeViews(scene.warehouse, some)).toEqual([])
    await run(
      `insert into tracking_sync.webhook_notifications
        (notification_id, state, processed_at)
      values ('n', 'processed', now())`,
    )
    expect(await storeViews(scene.warehouse, some)).toHaveLength(SOME.length)

    const other = `select 'x'::text as container_id, 1 as other`
    const changed = (await readViews()).flatMap((view) => {
      if (view.name !== 'attention') return view.name === 'exceptions' ? [] : [view]
      const sqlText = `create view {{${view.schema}}}.attention as ${other};`
      return [{ ...view, sqlText, checksum: 'other', describe: undefined }]
    })
    await installViews(scene.warehouse, changed, INSTALLING)
    expect(await storedRelations(scene)).not.toContain('attention')
    expect(await storeViews(scene.warehouse, some)).toContainEqual(
      expect.objectContaining({ name: 'attention', rows: 1 }),
    )
    expect(await run('select other from tracking_stored.attention')).toEqual([{ other: 1 }])
  })

  it('are told by status and by the view of their ages', async () => {
    const scene = await openScene({ shipments: 2 })
    const settings = { DATABASE_URL: scene.url, TRACKING_LOG_LEVEL: 'silent' }
    await scene.sync()
    const before = await callCli(['status'], settings)
    expect(before.stdout).not.toContain('stored view')
    const done = await callCli(['database', 'store-views'], settings)
    expect(done.stdout).toMatch(/^datasync_containers +\d+ +\d+$/m)
    const again = await callCli(['database', 'store-views'], settings)
    expect(again.stdout).toBe('No view is out of date, or another process is storing them.\n')
    const after = await callCli(['status'], settings)
    expect(after.stdout).toMatch(/^stored view +rows +age +took/m)
    expect(after.stdout).toMatch(/^datasync_containers +\d+ +\d+ s +0 s$/m)
    const ages = await scene.query(
      `select view_name, age_hours, row_count = (select count(*) from tracking_stored.timeline) as is_counted
      from tracking_analytics.stored_views order by view_name collate "C"`,
    )
    expect(ages.map(({ view_name }) => view_name)).toEqual([...NAMES].sort())
    const timeline = { view_name: 'timeline', age_hours: '0.00', is_counted: true }
    expect(ages).toContainEqual(timeline)
  })
})

describe.skipIf(isOnCitus)('stored views and roles', { tags: ['release'] }, () => {
  const schema = `stored_${process.pid}`
  let scene: Logins

  beforeAll(async () => {
    scene = await openLogins({ schema, logins: { stores: '', reads: '' } })
    const { roles } = await createRoles(scene.warehouse)
    await scene.run(`grant ${roles.writer} to ${scene.nameOf('stores')}`)
    await scene.run(`grant ${roles.reader} to ${scene.nameOf('reads')}`)
  })
  afterAll(() => scene.close())

  it('their owner makes them; then a writer stores them and a reader reads them', async () => {
    const warned: string[] = []
    const logger = { ...silentLogger, warn: (line: string) => void warned.push(line) }
    const url = scene.urlOf('stores')
    const warehouse = createWarehouse({ url, schema, logger: silentLogger })
    onTestFinished(() => warehouse.close())
    expect(await storeViews(warehouse, { ...some, logger })).toEqual([])
    expect(warned).toEqual([
      `no view is stored: the owner of ${schema}_stored first runs \`tracking-sync database store-views\``,
    ])
    expect(await storeViews(scene.warehouse, some)).toHaveLength(SOME.length)
    await scene.run(`delete from ${schema}_sync.stored_views`)
    const stored = await storeViews(warehouse, some)
    expect(stored.map(({ name }) => name)).toEqual(SOME)
    expect(await scene.tryAs('reads', `select * from ${schema}_stored.timeline`)).toBe('ok')
  })
})
