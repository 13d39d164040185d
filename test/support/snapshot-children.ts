import type { ResourceObject } from '../../src/source/jsonapi/document.js'
import { countRow, type Row, type TableSnapshot } from './snapshot-tables.js'
import { canonical, dayAt, shown } from './snapshot-values.js'

interface Child {
  readonly table: string
  readonly order: readonly string[]
  readonly expected: (container: ResourceObject) => readonly Row[]
}

const CHILDREN: readonly Child[] = [
  {
    table: 'container_holds',
    order: ['place', 'position'],
    expected: ({ attributes = {} }) =>
      ofBoth(attributes, 'holds_at_pod_terminal', 'ind_facility_holds').map(
        ({ place, position, item }) => {
          const { name = null, status = null, description = null, detail = null, ...rest } = item
          return { place, name, status, description, detail, position, _unmapped: orNull(rest) }
        },
      ),
  },
  {
    table: 'container_fees',
    order: ['place', 'position'],
    expected: ({ attributes = {} }) =>
      ofBoth(attributes, 'fees_at_pod_terminal', 'ind_facility_fees').map(
        ({ place, position, item }) => {
          const { type = null, amount = null, currency_code = null, ...others } = item
          const { description = null, ...rest } = others
          const is_total = type === 'total'
          const unmapped = { _unmapped: orNull(rest) }
          return {
            place,
            type,
            amount,
            currency_code,
            description,
            is_total,
            position,
            ...unmapped,
          }
        },
      ),
  },
  { table: 'container_import_deadlines', order: ['kind'], expected: expectedDeadlines },
]

export function listOf(value: unknown): readonly Record<string, unknown>[] {
  return Array.isArray(value) ? (value as Record<string, unknown>[]) : []
}

/** The items of the list at the port, then of the one at the ramp. */
function ofBoth(attributes: Readonly<Record<string, unknown>>, atPort: string, atRamp: string) {
  return (['port', 'ramp'] as const).flatMap((place) =>
    listOf(attributes[place === 'port' ? atPort : atRamp]).map((item, position) => ({
      place,
      position,
      item,
    })),
  )
}

function orNull(rest: Record<string, unknown>): unknown {
  return Object.keys(rest).length === 0 ? null : rest
}

/**
 * The railway's deadline is a day at the ramp, and so is one of no place that repeats it alone; the
 * others are days at the port. An object in place of a date makes a row of each day it names.
 */
export function expectedDeadlines({ attributes = {} }: ResourceObject): Row[] {
  const deadlines = (attributes.import_deadlines ?? {}) as Record<string, unknown>
  const named = ['pickup_lfd_line', 'pickup_lfd_rail', 'pickup_lfd_terminal']
  const sent: (readonly [string, unknown, unknown])[] = [
    ['pickup_lfd', attributes.pickup_lfd, null],
    ['pickup_lfd_line', deadlines.pickup_lfd_line ?? attributes.ssl_lfd, null],
    ['pickup_lfd_rail', deadlines.pickup_lfd_rail ?? attributes.ind_facility_lfd_on, null],
    ['pickup_lfd_terminal', deadlines.pickup_lfd_terminal, null],
  ]
  for (const [kind, said] of Object.entries(deadlines)) {
    if (!named.includes(kind)) sent.push([kind, said, detailsOf(said)])
    for (const role of ['original', 'current', 'calculated']) {
      const day = (said as Readonly<Record<string, unknown>> | null)?.[role]
      if (day !== undefined) sent.push([`${kind}.${role}`, day, detailsOf(day)])
    }
  }
  return sent
    .sort(([one], [two]) => (one < two ? -1 : 1))
    .flatMap(([kind, said, details]) => {
      const text = latestDay(said)
      if (typeof text !== 'string') return []
      const repeated = sent.filter(
        ([other, day]) => named.includes(other) && latestDay(day) === text,
      )
      const isRepeat = repeated.map(([other]) => other).join() === 'pickup_lfd_rail'
      const isUnplaced = !named.some((other) => kind.startsWith(other))
      const place = kind.includes('rail') || (isUnplaced && isRepeat) ? 'ramp' : 'port'
      const time_zone = (
        place === 'ramp' ? attributes.final_destination_timezone : attributes.pod_timezone
      ) as string | null
      const isDay = /^\d{4}-\d\d-\d\d$/.test(text)
      return {
        kind,
        place,
        deadline_at: isDay ? null : text,
        time_zone,
        local_date: isDay ? text : dayAt(text, time_zone),
        is_zone_known: isDay || time_zone !== null,
        details,
      }
    })
}

/** A date, or the day of an object in its place. */
export function latestDay(said: unknown): unknown {
  if (typeof said !== 'object' || said === null) return said ?? null
  const { current, value } = said as { current?: unknown; value?: unknown }
  return current ?? value ?? null
}

function detailsOf(said: unknown): unknown {
  if (typeof said !== 'object' || said === null) return null
  return orNull(Object.fromEntries(Object.entries(said).filter(([name]) => name !== 'value')))
}

/** How the tables below the containers differ from the lists within the records. */
export function compareChildren(
  tables: ReadonlyMap<string, TableSnapshot>,
  containers: readonly ResourceObject[],
): string[] {
  return CHILDREN.flatMap(({ table, order, expected }) => {
    const snapshot = tables.get(table)
    const types = snapshot?.types ?? new Map<string, string>()
    const rows = new Map<string, Row[]>()
    for (const row of snapshot?.rows ?? []) {
      const id = String(row.container_id)
      rows.set(id, [...(rows.get(id) ?? []), row])
    }
    const differences: string[] = []
    for (const container of containers) {
      const wanted = expected(container)
      const found = rows.get(container.id) ?? []
      rows.delete(container.id)
      found.sort((one, two) => compareBy(order, one, two))
      const compared = new Set(['container_id', ...Object.keys(wanted[0] ?? {})])
      const others = [...types.keys()].filter((name) => !compared.has(name))
      for (const row of found) countRow(snapshot, row, others)
      const describe = (row: Row): string =>
        Object.keys(wanted[0] ?? {})
          .map((name) => `${name} ${canonical(types.get(name) ?? '', row[name]) ?? 'null'}`)
          .join(', ')
      const [is, should] = [found.map(describe), wanted.map(describe)]
      if (found.length !== wanted.length || is.join('; ') !== should.join('; ')) {
        differences.push(
          `${table} ${container.id}: is ${shown(is)} (${found.length}) and should be ${shown(should)}`,
        )
      }
    }
    for (const id of rows.keys()) {
      differences.push(`${table} ${id}: the container is not at the source`)
    }
    return differences
  })
}

function compareBy(names: readonly string[], one: Row, two: Row): number {
  const name = names.find((candidate) => one[candidate] !== two[candidate]) ?? names[0] ?? ''
  return (one[name] as string | number) < (two[name] as string | number) ? -1 : 1
}
