import { sql, type RawBuilder } from 'kysely'
import type {} from '../users-tables.js'
import type { Session } from '../../../warehouse/connection/warehouse.js'
import { compareRows, waitForOtherImports, type ImportReport } from './csv-file.js'
import {
  findDoubts,
  HOLIDAY_COLUMNS,
  RULE_COLUMNS,
  type Holiday,
  type RulesFile,
  type WorkingCalendar,
} from './rules-file.js'
import {
  columnList,
  columnRef,
  type Statement,
  tableRef,
} from '../../../warehouse/connection/typed-database.js'

/** Columns of a file with another name in the tables. */
const COLUMN_SQL: Readonly<Record<string, RawBuilder<unknown>>> = {
  rule: sql`rule.rule_name as rule`,
  line: sql`rule.shipping_line_scac as line`,
  currency: sql`rule.currency_code as currency`,
  from_day: sql`tier.from_day`,
  daily_rate: sql`tier.daily_rate`,
  per: sql`tier.per`,
}

/**
 * Replaces all rules, or the holidays or places of the calendars that the file names. Call it in a
 * transaction: all or nothing. Idempotent.
 */
export async function storeRulesFile(session: Session, file: RulesFile): Promise<ImportReport> {
  if (file.kind === 'rules') return storeRules(session, file)
  return file.kind === 'holidays'
    ? storeCalendars(session, 'holidays', file.holidays)
    : storeCalendars(session, 'working_calendars', file.calendars)
}

async function storeRules(
  session: Session,
  { rules, tiers }: Extract<RulesFile, { kind: 'rules' }>,
): Promise<ImportReport> {
  await waitForOtherImports(session, 'free_time_rules')
  const before = await readRules(session)
  await session.query('remove the rules', session.db.deleteFrom('analytics.free_time_rules'))
  await session.query(
    'store the rules',
    sql`insert into ${tableRef('analytics.free_time_rules')}
select given.*
from jsonb_populate_recordset(null::${tableRef('analytics.free_time_rules')}, ${JSON.stringify(rules)}::jsonb) as given`,
  )
  await session.query(
    'store the tiers of the rules',
    sql`insert into ${tableRef('analytics.free_time_tiers')}
select given.*
from jsonb_populate_recordset(null::${tableRef('analytics.free_time_tiers')}, ${JSON.stringify(tiers)}::jsonb) as given`,
  )
  const after = await readRules(session)
  return {
    kind: 'rules',
    total: after.size,
    ...compareRows(before, after),
    warnings: [...findDoubts(rules, tiers), ...(await findUnknownNames(session))],
  }
}

/** Each rule with its tiers as one text, by name. */
async function readRules(session: Session): Promise<ReadonlyMap<string, string>> {
  const rows = await session.query(
    'read the rules',
    sql<{ name: string; said: string }>`select
    rule.rule_name as name,
    jsonb_build_array(to_jsonb(rule), jsonb_agg(to_jsonb(tier) order by tier.from_day))::text
        as said
from ${tableRef('analytics.free_time_rules')} as rule
left join ${tableRef('analytics.free_time_tiers')} as tier
    on tier.rule_name = rule.rule_name
group by rule.rule_name`,
  )
  return new Map(rows.map(({ name: rule, said }) => [rule, said]))
}

/** The rows of a calendar by all that tells them apart, and the rest of each. */
const CALENDAR_ROWS = {
  holidays: { kind: 'holidays', key: sql`concat_ws(' ', calendar, holiday_on)`, rest: sql`name` },
  working_calendars: {
    kind: 'calendars',
    key: sql`concat_ws(' at ', calendar, place)`,
    rest: sql`weekend::text`,
  },
} as const

async function storeCalendars(
  session: Session,
  name: keyof typeof CALENDAR_ROWS,
  given: readonly (Holiday | WorkingCalendar)[],
): Promise<ImportReport> {
  const table = tableRef(`analytics.${name}`)
  const { kind, key, rest } = CALENDAR_ROWS[name]
  const calendars = [...new Set(given.map(({ calendar }) => calendar))]
  const read = async () => {
    const rows = await session.query(
      `read the ${kind}`,
      sql<{
        key: string
        rest: string | null
      }>`select ${key} as key, ${rest} as rest from ${table} where calendar = any(${calendars}::text[])`,
    )
    return new Map(rows.map((row) => [row.key, row.rest ?? '']))
  }
  await waitForOtherImports(session, name)
  const before = await read()
  await session.query(
    `remove the ${kind}`,
    sql`delete from ${table} where calendar = any(${calendars}::text[])`,
  )
  await session.query(
    `store the ${kind}`,
    sql`insert into ${table}
select given.* from jsonb_populate_recordset(null::${table}, ${JSON.stringify(given)}::jsonb) as given`,
  )
  const after = await read()
  return {
    kind,
    total: after.size,
    ...compareRows(before, after),
    warnings: await findUnusedCalendars(session),
  }
}

/** Calendars whose place the warehouse does not know, and holidays that no clock could meet. */
async function findUnusedCalendars(session: Session): Promise<string[]> {
  const rows = await session.query(
    'look for calendars that no clock meets',
    sql<{ warning: string }>`select distinct
    'the calendar ' || own.calendar || ' is of ' || own.place
    || ', and the warehouse has no such place, by UN/LOCODE, or terminal, by id, FIRMS code, nickname or name'
        as warning
from ${tableRef('analytics.working_calendars')} as own
where own.place <> ''
    and exists (select from ${tableRef('data.shipments')})
    and not exists (
        select from ${tableRef('data.terminals')} as known
        where own.place in (known.terminal_id, known.firms_code, known.nickname, known.name)
    )
    and not exists (
        select from ${tableRef('data.rail_terminals')} as known
        where own.place
            in (known.rail_terminal_id, known.firms_code, known.nickname, known.name)
    )
    and not exists (
        select from ${tableRef('data.shipments')} as known
        where own.place in (known.port_of_discharge_locode, known.destination_locode)
    )
    and not exists (
        select from ${tableRef('data.ports')} as known
        where known.code = own.place
    )
union all
select distinct
    'the holidays of ' || holiday.calendar || ' count nowhere: no rule names the calendar, and no '
    || 'working calendar gives it a place' as warning
from ${tableRef('analytics.holidays')} as holiday
where not exists (
        select from ${tableRef('analytics.free_time_rules')} as rule
        where rule.holiday_calendar = holiday.calendar
    )
    and not exists (
        select from ${tableRef('analytics.working_calendars')} as own
        where own.calendar = holiday.calendar
            and own.place <> ''
    )
    and exists (select from ${tableRef('analytics.free_time_rules')})
order by warning`,
  )
  return rows.map(({ warning }) => warning)
}

/**
 * Calendars without holidays, and unknown terminals, shipping lines, places and types of equipment:
 * a misspelt name matches nothing. An empty warehouse cannot tell.
 */
async function findUnknownNames(session: Session): Promise<string[]> {
  const rows = await session.query(
    'look for names that the warehouse does not know',
    sql<{ warning: string }>`select distinct
    'the calendar ' || rule.holiday_calendar || ' has no holidays: import them too' as warning
from ${tableRef('analytics.free_time_rules')} as rule
where rule.holiday_calendar is not null
    and not exists (
        select from ${tableRef('analytics.holidays')} as holiday
        where holiday.calendar = rule.holiday_calendar
    )
    and not exists (
        select from ${tableRef('analytics.working_calendars')} as known
        where known.calendar = rule.holiday_calendar
    )
union all
select distinct
    'the warehouse has no shipment of the customer ' || rule.customer as warning
from ${tableRef('analytics.free_time_rules')} as rule
where rule.customer is not null
    and exists (
        select from ${tableRef('data.shipments')} as any_one
        where any_one.customer_name is not null
    )
    and not exists (
        select from ${tableRef('data.shipments')} as known
        where known.customer_name = rule.customer
    )
union all
select distinct
    'the warehouse has no shipment with the tag ' || rule.tag as warning
from ${tableRef('analytics.free_time_rules')} as rule
where rule.tag is not null
    and exists (
        select from ${tableRef('data.shipments')} as any_one
        where any_one.tags <> '{}'
    )
    and not exists (
        select from ${tableRef('data.shipments')} as known
        where rule.tag = any(known.tags)
    )
union all
select distinct
    'the warehouse has no terminal ' || rule.terminal || ' by id, FIRMS code, nickname or name'
from ${tableRef('analytics.free_time_rules')} as rule
where rule.terminal is not null
    and not exists (
        select from ${tableRef('data.terminals')} as known
        where rule.terminal
            in (known.terminal_id, known.firms_code, known.nickname, known.name)
    )
    and not exists (
        select from ${tableRef('data.rail_terminals')} as known
        where rule.terminal
            in (known.rail_terminal_id, known.firms_code, known.nickname, known.name)
    )
union all
select distinct
    'the warehouse has no shipping line ' || rule.shipping_line_scac || ' by SCAC'
from ${tableRef('analytics.free_time_rules')} as rule
where rule.shipping_line_scac is not null
    and exists (
        select from ${tableRef('data.shipments')} as any_one
        where any_one.shipping_line_scac is not null
    )
    and not exists (
        select from ${tableRef('data.shipments')} as known
        where known.shipping_line_scac = rule.shipping_line_scac
    )
union all
select distinct
    'the warehouse has no place ' || rule.locode || ' by UN/LOCODE'
from ${tableRef('analytics.free_time_rules')} as rule
where rule.locode is not null
    and exists (
        select from ${tableRef('data.shipments')} as any_one
        where any_one.port_of_discharge_locode is not null
    )
    and not exists (
        select from ${tableRef('data.shipments')} as known
        where known.port_of_discharge_locode = rule.locode
    )
    and not exists (
        select from ${tableRef('data.shipments')} as known
        where known.destination_locode = rule.locode
    )
    and not exists (
        select from ${tableRef('data.ports')} as known
        where known.code = rule.locode
    )
    and not exists (
        select from ${tableRef('data.metro_areas')} as known
        where known.code = rule.locode
    )
union all
select distinct
    'the warehouse has no container of the equipment type ' || rule.equipment_type
from ${tableRef('analytics.free_time_rules')} as rule
where rule.equipment_type is not null
    and exists (
        select from ${tableRef('data.containers')} as any_one
        where any_one.equipment_type is not null
    )
    and not exists (
        select from ${tableRef('data.containers')} as known
        where known.equipment_type = rule.equipment_type
    )
order by warning`,
  )
  return rows.map(({ warning }) => warning)
}

/** A statement whose answer, as comma-separated values, can be imported again. */
export function exportRules(kind: RulesFile['kind']): Statement<unknown> {
  if (kind === 'holidays') {
    return sql`select ${columnList(HOLIDAY_COLUMNS)}
from ${tableRef('analytics.holidays')}
order by calendar, holiday_on`
  }
  if (kind === 'calendars') {
    return sql`select
    calendar,
    place,
    case
        when weekend = '{}' then 'none'
        else (
            select
                string_agg(
                    (array['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'])[day], ' ' order by day
                )
            from unnest(weekend) as off (day)
        )
    end as weekend
from ${tableRef('analytics.working_calendars')}
order by calendar, place`
  }
  return sql`select ${sql.join(RULE_COLUMNS.map((name) => COLUMN_SQL[name] ?? columnRef(name, 'rule')))}
from ${tableRef('analytics.free_time_rules')} as rule
left join ${tableRef('analytics.free_time_tiers')} as tier
    on tier.rule_name = rule.rule_name
order by rule.rule_name, tier.from_day`
}
