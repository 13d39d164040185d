import { countRow, type Row, type TableSnapshot } from './snapshot-tables.js'
import { canonical, instant, shown } from './snapshot-values.js'

/** A table of versions or intervals, and the table whose rows are its open ones. */
interface HistorySpec {
  readonly history: string
  readonly standing: string
  readonly key: readonly string[]
  /** A row has a version at every instant; a hold comes and goes. */
  readonly isContiguous: boolean
}

export const HISTORIES: readonly HistorySpec[] = [
  {
    history: 'shipment_history',
    standing: 'shipments',
    key: ['shipment_id'],
    isContiguous: true,
  },
  {
    history: 'container_history',
    standing: 'containers',
    key: ['container_id'],
    isContiguous: true,
  },
  {
    history: 'container_import_deadline_history',
    standing: 'container_import_deadlines',
    key: ['container_id', 'kind'],
    isContiguous: false,
  },
  {
    history: 'container_hold_history',
    standing: 'container_holds',
    key: ['container_id', 'hold_key'],
    isContiguous: false,
  },
  {
    history: 'container_fee_history',
    standing: 'container_fees',
    key: ['container_id', 'fee_key'],
    isContiguous: false,
  },
]

/** Columns of a history that say when and by what, and not what. */
export const FRAME = new Set(['valid_from', 'valid_to', 'source', '_sync_run_id'])

/**
 * Faults of the histories: intervals that are empty, overlap or leave a gap, versions that change
 * nothing, live rows without one open version equal to them, open versions without a live row.
 */
export function compareHistories(
  tables: ReadonlyMap<string, TableSnapshot>,
  areGapsAllowed: boolean,
): string[] {
  return HISTORIES.flatMap((spec) => compareHistory(tables, spec, areGapsAllowed))
}

function compareHistory(
  tables: ReadonlyMap<string, TableSnapshot>,
  spec: HistorySpec,
  areGapsAllowed: boolean,
): string[] {
  const history = tables.get(spec.history)
  const standing = tables.get(spec.standing)
  if (history === undefined || standing === undefined) return [`${spec.history} is missing`]
  const values = [...history.types.keys()].filter((name) => !FRAME.has(name))
  const describe = (row: Row): string =>
    JSON.stringify(values.map((name) => canonical(history.types.get(name) ?? '', row[name])))
  const keyOf = (row: Row): string => spec.key.map((name) => String(row[name])).join(' ')
  const versions = new Map<string, Row[]>()
  for (const row of history.rows) {
    versions.set(keyOf(row), [...(versions.get(keyOf(row)) ?? []), row])
  }
  const differences: string[] = []
  for (const [key, list] of versions) {
    list.sort((one, two) => (from(one) < from(two) ? -1 : 1))
    const isContiguous = spec.isContiguous && !areGapsAllowed
    for (const problem of compareIntervals(list, describe, isContiguous)) {
      differences.push(`${spec.history} ${key}: ${problem}`)
    }
  }
  const live = standing.rows.filter((row) => (row._deleted_at ?? null) === null)
  for (const row of live) {
    const open = (versions.get(keyOf(row)) ?? []).filter(isOpen)
    versions.delete(keyOf(row))
    for (const version of open) countRow(history, version)
    const problem = compareOpen(row, open, describe)
    if (problem !== undefined) differences.push(`${spec.history} ${keyOf(row)}: ${problem}`)
  }
  for (const [key, list] of versions) {
    if (list.some(isOpen)) differences.push(`${spec.history} ${key}: open without a live row`)
  }
  return differences
}

function compareIntervals(
  list: readonly Row[],
  describe: (row: Row) => string,
  isContiguous: boolean,
): string[] {
  const problems: string[] = []
  for (const [index, version] of list.entries()) {
    const end = to(version)
    if (end !== undefined && end <= from(version)) {
      problems.push(`valid_from ${shown(version.valid_from)} is not before valid_to`)
    }
    const next = list[index + 1]
    if (next === undefined) continue
    if (end === undefined || end > from(next)) {
      problems.push(`the version of ${shown(version.valid_from)} overlaps the next`)
    } else if (isContiguous && end < from(next)) {
      problems.push(`no version from ${shown(version.valid_to)} to ${shown(next.valid_from)}`)
    } else if (end === from(next) && describe(version) === describe(next)) {
      problems.push(`the version of ${shown(next.valid_from)} changes nothing`)
    }
  }
  return problems
}

function compareOpen(
  row: Row,
  open: readonly Row[],
  describe: (row: Row) => string,
): string | undefined {
  const [version] = open
  if (open.length !== 1 || version === undefined) return `${open.length} open versions, not one`
  if (describe(version) !== describe(row)) {
    return `the open version ${shown(describe(version))} is not the row ${shown(describe(row))}`
  }
  const changedAt = row._changed_at
  if (typeof changedAt === 'string' && instant(changedAt) !== from(version)) {
    return `opened at ${shown(version.valid_from)}, the row changed at ${shown(changedAt)}`
  }
  return undefined
}

function isOpen(version: Row): boolean {
  return version.valid_to === null
}

function from(version: Row): bigint {
  const start = version.valid_from
  return (typeof start === 'string' ? instant(start) : undefined) ?? 0n
}

function to(version: Row): bigint | undefined {
  const end = version.valid_to
  return typeof end === 'string' ? instant(end) : undefined
}
