import type { ResourceObject } from '../../src/jsonapi/document.js'
import type { Row, TableSnapshot } from './snapshot-tables.js'
import { canonical, dayAt, shown } from './snapshot-values.js'

interface Child {
  readonly table: string
  readonly order: string
  readonly expected: (container: ResourceObject) => readonly Row[]
}

const CHILDREN: readonly Child[] = [
  {
    table: 'container_holds',
    order: 'position',
    expected: ({ attributes }) =>
      listOf(attributes?.holds_at_pod_terminal).map((hold, position) => {
        const { name = null, status = null, description = null, ...rest } = hold
        return { name, status, description, position, _unmapped: orNull(rest) }
      }),
  },
  {
    table: 'container_fees',
    order: 'position',
    expected: ({ attributes }) =>
      listOf(attributes?.fees_at_pod_terminal).map((fee, position) => {
        const { type = null, amount = null, currency_code = null, ...rest } = fee
        const is_total = type === 'total'
        return { type, amount, currency_code, is_total, position, _unmapped: orNull(rest) }
      }),
  },
  { table: 'container_import_deadlines', order: 'kind', expected: expectedDeadlines },
]

export function listOf(value: unknown): readonly Record<string, unknown>[] {
  return Array.isArray(value) ? (value as Record<string, unknown>[]) : []
}

function orNull(rest: Record<string, unknown>): unknown {
  return Object.keys(rest).length === 0 ? null : rest
}

/** The railway's deadline is a day at the ramp; the others are days at the port. */
export function expectedDeadlines({ attributes = {} }: ResourceObject): Row[] {
  const deadlines = (attributes.import_deadlines ?? {}) as Record<string, string | null>
  const pod = attributes.pod_timezone as string | null
  const final = attributes.final_destination_timezone as string | null
  const coalesced = attributes.pickup_lfd as string | null
  const sent = [
    ['pickup_lfd', coalesced, pod],
    ['pickup_lfd_line', deadlines.pickup_lfd_line, pod],
    ['pickup_lfd_rail', deadlines.pickup_lfd_rail, final],
    ['pickup_lfd_terminal', deadlines.pickup_lfd_terminal, pod],
  ] as const
  return sent.flatMap(([kind, text, time_zone]) => {
    if (typeof text !== 'string') return []
    const isDay = /^\d{4}-\d\d-\d\d$/.test(text)
    return {
      kind,
      deadline_at: isDay ? null : text,
      time_zone,
      local_date: isDay ? text : dayAt(text, time_zone),
      is_zone_known: isDay || time_zone !== null,
    }
  })
}

/** How the tables below the containers differ from the lists within the records. */
export function compareChildren(
  tables: ReadonlyMap<string, TableSnapshot>,
  containers: readonly ResourceObject[],
): string[] {
  return CHILDREN.flatMap(({ table, order, expected }) => {
    const types = tables.get(table)?.types ?? new Map<string, string>()
    const rows = new Map<string, Row[]>()
    for (const row of tables.get(table)?.rows ?? []) {
      const id = String(row.container_id)
      rows.set(id, [...(rows.get(id) ?? []), row])
    }
    const differences: string[] = []
    for (const container of containers) {
      const wanted = expected(container)
      const found = rows.get(container.id) ?? []
      rows.delete(container.id)
      found.sort((one, two) => compare(one[order], two[order]))
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

function compare(one: unknown, two: unknown): number {
  return (one as string | number) < (two as string | number) ? -1 : 1
}
