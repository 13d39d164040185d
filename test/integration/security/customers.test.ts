import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { silentLogger } from '../../../src/base/logger.js'
import {
  closeToCustomers,
  isOpenToCustomers,
  openToCustomers,
  renewCustomerAccess,
  type CustomerReport,
} from '../../../src/extensions/accounts/customers/customer-access.js'
import { prepareSchemas } from '../../../src/warehouse/schema/prepare-schemas.js'
import { createRoles } from '../../../src/warehouse/schema/roles.js'
import { storeViews } from '../../../src/extensions/answers/store-views.js'
import { startSimulator, type Simulator } from '../../../src/extensions/simulator/server.js'
import { compareWarehouse } from '../../support/compare-warehouse.js'
import { holdOldest } from '../../support/small-world.js'
import { runTestSync } from '../../support/run-test-sync.js'
import { openLogins, type Logins } from '../../support/scenes/logins.js'
import { withWarehouse } from '../../support/test-warehouse.js'
import { withClient } from '../../support/with-client.js'
import { HOUR, START } from '../sync/sync-scene.js'

/** Roles are the server's, not the database's: another file's must not be in the way. */
const schema = `customers_${process.pid}`
const CUSTOMER = `${schema}_customer`
const LOGINS = { acme: '', globex: '', nobody: '', analyst: '', loader: '' }
const [ACME, GLOBEX, NOBODY, ANALYST, LOADER] = Object.keys(LOGINS).map(
  (login) => `${schema}_as_${login}`,
) as [string, string, string, string, string]
const options = { sleep: () => Promise.resolve() }
const upgrade = { ...options, renewAccess: renewCustomerAccess }

let opened: Logins
let simulator: Simulator
const clients = new Map<string, pg.Client>()

const { rows: versions } = await withClient(inject('databaseServerUrl'), (client) =>
  client.query<{ version: number }>(`select current_setting('server_version_num')::int as version`),
)
const isOldServer = versions[0]!.version < 150_000

const look = <Row = Record<string, unknown>>(sqlText: string, values: unknown[] = []) =>
  opened.run<Row>(sqlText, values)

const urlOf = (role: string): string => opened.urlOf(role.replace(`${schema}_as_`, ''))

beforeAll(async () => {
  opened = await openLogins({ schema, logins: LOGINS })
  const world = { seed: 7, shipments: 16, startAt: START, speed: 0, rateLimitPerMinute: null }
  simulator = await startSimulator(world)
  holdOldest(simulator)
  const { roles } = await createRoles(opened.warehouse)
  // As docs/questions.md asks for: compiling the plans would take minutes.
  for (const role of [ACME, GLOBEX, NOBODY, ANALYST, LOADER]) {
    await look(`alter role ${role} set jit = off`)
  }
  await look(`grant ${roles.reader} to ${ANALYST}`)
  await look(`grant ${roles.writer} to ${LOADER}`)
})

afterAll(async () => {
  for (const client of clients.values()) await client.end()
  await simulator.close()
  await opened.close()
})

async function connect(role: string): Promise<pg.Client> {
  const known = clients.get(role)
  if (known !== undefined) return known
  const client = new pg.Client({ connectionString: urlOf(role) })
  clients.set(role, client)
  await client.connect()
  return client
}

/** All that the server answers, rows, notices and errors, as one text; or the code of a refusal. */
async function ask(login: string, sqlText: string): Promise<string> {
  const client = await connect(login)
  const heard: string[] = []
  const listen = ({ message = '' }: { message?: string | undefined }) => heard.push(message)
  client.on('notice', listen)
  try {
    const results = (await client.query(sqlText)) as unknown as pg.QueryResult | pg.QueryResult[]
    return JSON.stringify([[results].flat().map(({ rows }): unknown[] => rows), heard])
  } catch (error) {
    const { code, message, detail = '' } = error as pg.DatabaseError
    return code === '42501' ? code : `${code ?? ''} ${message} ${detail} ${heard.join(' ')}`
  } finally {
    client.off('notice', listen)
  }
}

async function countAs(login: string, table: string): Promise<number> {
  const { rows } = await (
    await connect(login)
  ).query<{ count: number }>(`select count(*)::int as count from ${table}`)
  return rows[0]!.count
}

interface Relation {
  readonly name: string
  readonly short: string
}

const relations = (): Promise<Relation[]> =>
  look<Relation>(
    `select format('%I.%I', nspname, relname) as name,
        replace(nspname, $1, 'tracking') || '.' || relname as short
    from pg_class inner join pg_namespace on pg_namespace.oid = relnamespace
    where nspname like $1 || '%' and relkind in ('r', 'p', 'v', 'm')
    order by 2`,
    [schema],
  )

it.runIf(isOldServer)('before PostgreSQL 15 nothing is opened to customers', async () => {
  await expect(openToCustomers(opened.warehouse, options)).rejects.toThrow(
    /nothing was changed: customers need PostgreSQL 15 or later/,
  )
  expect(await look('select from pg_policy')).toEqual([])
})

describe.skipIf(isOldServer)('a warehouse that is open to customers', () => {
  let report: CustomerReport
  /** Ids and numbers of other customers, which ACME must not see in any way. */
  let secrets: string[]
  let own: { readonly shipments: number; readonly containers: number }

  it('is filled by a writer, who sees and writes every row', { tags: ['G14'] }, async () => {
    // Only when it is asked for.
    expect(await isOpenToCustomers(opened.warehouse)).toBe(false)
    expect(await look('select from pg_policy')).toEqual([])
    report = await openToCustomers(opened.warehouse, options)
    await withWarehouse({ url: urlOf(LOADER), schema }, async (warehouse) => {
      for (const command of ['backfill', 'sync'] as const) {
        const run = await runTestSync({ warehouse, source: simulator, command })
        expect(run.outcome).toBe('complete')
        simulator.clock.advance(7 * 24 * HOUR)
      }
      const last = { warehouse, source: simulator, areChecksDue: true }
      await runTestSync({ ...last, command: 'sync' })
      const now = simulator.clock.now()
      expect(await compareWarehouse(warehouse, simulator.world, now)).toEqual([])
    })
    const all = await look<{ id: string }>(
      `select shipment_id as id from ${schema}.shipments order by 1`,
    )
    // Half of the shipments are ACME's, which has two names; some are nobody's.
    await look(
      `update ${schema}.shipments set customer_name = case
          when shipment_id = any($1) then 'ACME'
          when shipment_id = any($2) then 'Acme Foods'
          when shipment_id = any($3) then 'Globex'
      end`,
      [all.slice(0, 4), all.slice(4, 8), all.slice(8, 14)].map((some) => some.map(({ id }) => id)),
    )
    await look(
      `update ${schema}.shipment_history as version set customer_name = shipment.customer_name
      from ${schema}.shipments as shipment
      where shipment.shipment_id = version.shipment_id`,
    )
    await look(
      `insert into ${schema}_analytics.free_time_rules
        (rule_name, charge, free_days, starts_with, currency_code, reported)
      values ('contract', 'demurrage', 1, 'discharge', 'USD', 'ignored')`,
    )
    await look(`insert into ${schema}_analytics.free_time_tiers values ('contract', 1, 100)`)
    const { signal } = new AbortController()
    await storeViews(opened.warehouse, { logger: silentLogger, signal })
    for (const login of [ACME, GLOBEX, NOBODY]) await look(`grant ${CUSTOMER} to ${login}`)
    await look(
      `insert into ${schema}_sync.customer_roles select * from unnest($1::text[], $2::text[])`,
      [
        [ACME, ACME, GLOBEX, 'a role that is gone'],
        ['ACME', 'Acme Foods', 'Globex', 'ACME'],
      ],
    )
    const foreign = await look<{ id: string; secret: string }>(
      `select secret
      from ${schema}.shipments as shipment
      left join ${schema}.containers as container using (shipment_id)
      cross join lateral unnest(array[
          shipment.shipment_id, shipment.bill_of_lading_number, container.container_id,
          container.number
      ]) as secret
      where coalesce(shipment.customer_name, '') != all (array['ACME', 'Acme Foods'])
          and secret is not null`,
    )
    secrets = [...new Set(foreign.map(({ secret }) => secret)), 'Globex']
    expect(secrets.length).toBeGreaterThan(20)
    const [counted] = await look<typeof own>(
      `select count(distinct shipment_id)::int as shipments, count(container_id)::int as containers
      from ${schema}.shipments left join ${schema}.containers using (shipment_id)
      where customer_name in ('ACME', 'Acme Foods')`,
    )
    own = counted!
  })

  function expectNoSecret(where: string, text: string): void {
    const found = secrets.filter((secret) => text.includes(secret))
    expect({ where, found }).toEqual({ where, found: [] })
  }

  it('shows a customer its own rows everywhere, and no other', { tags: ['G14'] }, async () => {
    expect(await countAs(ACME, `${schema}.shipments`)).toBe(own.shipments)
    expect(await countAs(ACME, `${schema}.containers`)).toBe(own.containers)
    expect(await countAs(ACME, `${schema}_parts.known_containers`)).toBe(own.containers)
    const refused: string[] = []
    const empty: string[] = []
    for (const { name, short } of await relations()) {
      const answer = await ask(ACME, `select to_jsonb(one) as row from ${name} as one`)
      expectNoSecret(name, answer)
      if (answer === '42501') refused.push(short)
      else if (answer === '[[[]],[]]') empty.push(short)
    }
    const isOpen = (short: string): boolean => !refused.includes(short)
    // All of the bookkeeping and what is stored, and what reads invoices or bookkeeping.
    expect(
      (await relations()).filter(
        ({ short }) => /^tracking_(?:sync|stored)\./.test(short) && isOpen(short),
      ),
    ).toEqual([])
    expect(refused.filter((short) => !/^tracking_(?:sync|stored|as_of)\./.test(short))).toEqual([
      'tracking.custom_field_definitions',
      'tracking.custom_field_options',
      'tracking.other_resources',
      'tracking.raw_events',
      'tracking.webhook_event_categories',
      'tracking_analytics.accrual',
      'tracking_analytics.data_quality',
      'tracking_analytics.dd_invoices',
      'tracking_analytics.freshness',
      'tracking_analytics.invoice_audit',
      'tracking_analytics.invoice_days',
      'tracking_analytics.invoices',
      'tracking_analytics.stored_views',
      'tracking_datasync._transfer_status',
      'tracking_parts.invoice_balances',
      'tracking_parts.invoice_claims',
      'tracking_parts.invoice_clocks',
      'tracking_parts.invoice_shares',
      'tracking_parts.invoice_sums',
      'tracking_parts.invoice_terms',
    ])
    const reported = (await relations()).filter(({ name }) => report.views.includes(name))
    expect(reported.length).toBe(report.views.length)
    expect(reported.filter(({ short }) => !isOpen(short))).toEqual([])
    // Custom fields can say what is not for customers, and contracts are the forwarder's. For a
    // customer only reported days bind.
    expect(empty).toContain('tracking.custom_fields')
    for (const table of ['rules', 'tiers']) {
      expect(await countAs(ANALYST, `${schema}_analytics.free_time_${table}`)).toBeGreaterThan(0)
      expect(empty).toContain(`tracking_analytics.free_time_${table}`)
    }
    // Listed fees alone are the costs that a customer sees.
    const costs = `${schema}_analytics.costs`
    const byRule = `(select from ${costs} where rule_name is not null or source = 'rule') as one`
    expect(await countAs(ANALYST, byRule)).toBeGreaterThan(0)
    expect(await countAs(ACME, byRule)).toBe(0)
    expect(await countAs(ACME, costs)).toBeGreaterThan(0)
    expect(await countAs(ACME, `${schema}_analytics.attention`)).toBeGreaterThan(0)
    const ofRules = `(select from ${schema}_analytics.container_stays where rule_on is not null)`
    expect(await countAs(ANALYST, `${ofRules} as stay`)).toBeGreaterThan(0)
    expect(await countAs(ACME, `${ofRules} as stay`)).toBe(0)
    expect(await countAs(ACME, `${schema}_analytics.last_free_days`)).toBeGreaterThan(0)
    // Else the look for secrets would say little.
    expect(empty.length).toBeLessThan(36)
    expect(report.views.length).toBeGreaterThan(160)
  })

  it('shows another customer the others, one without an entry none, and the reader all', async () => {
    const table = `${schema}.containers`
    const [all] = await look<{ count: number }>(`select count(*)::int as count from ${table}`)
    const globex = await countAs(GLOBEX, table)
    expect([globex > 0, globex + own.containers < all!.count]).toEqual([true, true])
    const emptyHanded: number[] = []
    for (const name of report.tables) emptyHanded.push(await countAs(NOBODY, `${schema}.${name}`))
    const shown = report.tables.filter((_, index) => emptyHanded[index]! > 0).sort()
    expect(shown).toEqual(['metro_areas', 'ports', 'rail_terminals', 'terminals', 'vessels'])
    for (const login of [ANALYST, LOADER]) {
      expect(await countAs(login, table)).toBe(all!.count)
      expect(await countAs(login, `${schema}_parts.known_containers`)).toBe(all!.count)
    }
    expect(await countAs(ANALYST, `${schema}_stored.datasync_containers`)).toBe(all!.count)
  })

  it('shows a member of two customers both, and nothing more to one who is a reader too', async () => {
    await look(`grant ${GLOBEX} to ${NOBODY}`)
    expect(await countAs(NOBODY, `${schema}.shipments`)).toBe(
      await countAs(GLOBEX, `${schema}.shipments`),
    )
    await look(`revoke ${GLOBEX} from ${NOBODY}`)
    await look(`grant ${schema}_reader to ${NOBODY}`)
    expect(await countAs(NOBODY, `${schema}.shipments`)).toBe(0)
    expect(await countAs(NOBODY, `${schema}_analytics.timeline`)).toBe(0)
    await look(`revoke ${schema}_reader from ${NOBODY}`)
  })

  it('holds against functions, errors, plans and statistics', { tags: ['G14'] }, async () => {
    await ask(
      ACME,
      `create function pg_temp.leak(value text) returns boolean language plpgsql cost 0.0000001 as
      $$ begin raise notice '%', value; return true; end $$`,
    )
    const attacks = [
      `select pg_temp.leak(bill_of_lading_number) from ${schema}.shipments
      where pg_temp.leak(bill_of_lading_number)`,
      `select from ${schema}_analytics.timeline as one where pg_temp.leak(one::text)`,
      `select from ${schema}_as_of.known_shipments as one where pg_temp.leak(one::text)`,
      `select bill_of_lading_number::int from ${schema}.shipments order by shipment_id desc`,
      `select 1 / (case when customer_name = 'Globex' then 0 else 1 end) from ${schema}.shipments`,
      `select pg_temp.leak(a::text) from ${schema}.shipment_history as a
      full join ${schema}.containers as b using (shipment_id)`,
      `explain analyze select from ${schema}.shipments where customer_name = 'nobody''s'`,
      `select * from pg_stats where schemaname = '${schema}' and tablename in ('shipments', 'containers', 'shipment_history')`,
      `copy ${schema}.shipments to stdout`,
      `set row_security = off; select * from ${schema}.shipments`,
      `set row_security = on; reset row_security`,
      `set tracking_sync.as_of = '2026-03-03'; select * from ${schema}_as_of.known_containers`,
      `reset tracking_sync.as_of`,
      `set role ${schema}_reader; select * from ${schema}.shipments`,
      `set role ${GLOBEX}; select * from ${schema}.shipments`,
      `set session authorization ${GLOBEX}; select * from ${schema}.shipments`,
      `select query_to_xml('select * from ${schema}.shipments', true, false, '')`,
      `insert into ${schema}_sync.customer_roles values ('${ACME}', 'Globex')`,
      `create temp view mine with (security_barrier = false) as select * from ${schema}.shipments;
      select * from mine`,
      `begin; declare all_of_them cursor for select * from ${schema}.shipments; fetch all all_of_them; commit`,
      `select * from ${schema}.transport_events tablesample system (100)`,
      `update ${schema}.shipments set customer_name = 'ACME'`,
      `alter table ${schema}.shipments disable row level security`,
      `alter view ${schema}_parts.known_shipments reset (security_invoker)`,
      `select * from ${schema}_sync.rows_of_containers`,
    ]
    for (const attack of attacks) expectNoSecret(attack, await ask(ACME, attack))
    // The attack itself works: it reveals ACME's own rows.
    expect(await ask(ACME, attacks[0]!)).toMatch(/,\["\w+",/)
  })

  it('stays closed when views are made again', { tags: ['G14', 'release'] }, async () => {
    const names = `${schema}_sync.installed_views`
    await look(`update ${names} set checksum = '' where view_name = 'timeline'`)
    await look(`drop view ${schema}_analytics.port_waits cascade`)
    expect((await prepareSchemas(opened.warehouse, upgrade)).views).toContain('timeline')
    await look(`create table ${schema}.later as select * from ${schema}.shipments`)
    await look(`update ${names} set checksum = '' where view_name = 'eta_changes'`)
    // A replaced view keeps the rights of the reader by itself: its grants are still there.
    await prepareSchemas(opened.warehouse, options)
    const bare = await look(
      `select relname from pg_class
      inner join pg_namespace on pg_namespace.oid = relnamespace
      where nspname = any($1) and relkind = 'v'
          and coalesce(array_to_string(reloptions, ','), '') not like '%security_invoker=true%'`,
      [['analytics', 'parts', 'as_of', 'datasync'].map((one) => `${schema}_${one}`)],
    )
    expect(bare).toEqual([])
    for (const name of ['_analytics.timeline', '_as_of.port_waits', '.later']) {
      expectNoSecret(name, await ask(ACME, `select * from ${schema}${name}`))
    }
    expect(await countAs(ACME, `${schema}_analytics.timeline`)).toBeGreaterThan(0)
    expect(await ask(ACME, `select * from ${schema}.later`)).toBe('42501')
    await look(`drop table ${schema}.later`)
  })

  it('hides versions of when it was another customer’s', { tags: ['G14'] }, async () => {
    const [shipment] = await look<{ id: string }>(
      `select shipment_id as id from ${schema}.shipments where customer_name = 'ACME' limit 1`,
    )
    const ofShipment = `(select from ${schema}.shipment_history where shipment_id = '${shipment!.id}')`
    const count = () => countAs(ACME, `${ofShipment} as version`)
    const before = await count()
    await look(
      `insert into ${schema}.shipment_history (shipment_id, valid_from, valid_to, customer_name, source)
      values ($1, '2020-01-01', '2020-01-02', 'Globex', 'test')`,
      [shipment!.id],
    )
    expect(await count()).toBe(before)
  })

  it('is closed again, and then as it was', { tags: ['release'] }, async () => {
    const again = await opened.call(undefined, ['migrate', '--customers'])
    expect(again).toMatchObject({ exitCode: 0, stderr: '' })
    expect(again.stdout).toMatch(/^20 tables and \d+ views are open to members of /m)
    expect((await opened.call(undefined, ['migrate', '--drop-customers'])).stdout).toMatch(
      /^Customers can no longer read anything\.$/m,
    )
    expect(await look('select from pg_policy')).toEqual([])
    expect(await ask(ACME, `select * from ${schema}.shipments`)).toBe('42501')
    expect(await ask(ACME, `select * from ${schema}_parts.known_shipments`)).toBe('42501')
    const left = await look(
      `select relname from pg_class where relrowsecurity or reloptions::text like '%security_invoker%'`,
    )
    expect(left).toEqual([])
    expect(await closeToCustomers(opened.warehouse, options)).toBe(false)
  })
})
