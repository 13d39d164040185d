import { sql } from 'kysely'
import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { resources } from '../../../src/source/records/index.js'
import { useTestWarehouse } from '../../support/reused-warehouse.js'
import { applyPages, type Page } from '../../support/scenes/apply-pages.js'
import { loadTables, type Row, type TableSnapshot } from '../../support/snapshot-tables.js'

/** A page of full records for each stream: no two columns of a record have one value. */
const GIVEN = new URL('../../fixtures/resources/', import.meta.url)
const streams = resources.map(({ stream }) => stream)
const pageOf = (stream: string): Page =>
  JSON.parse(readFileSync(new URL(`${stream}.json`, GIVEN), 'utf8')) as Page

/** Seen at an instant that no record names. */
const SEEN_AT = '2026-03-31T12:00:00Z'
const STAMP = '2026-03-31 12:00:00+00'

/** Tables made of the columns of a record, shown whole. */
const CHILDREN = ['container_import_deadlines', 'container_holds', 'container_fees']
/** Shown by what they have beside the row or child whose version they are. */
const HISTORIES: Readonly<Record<string, string>> = {
  shipment_history: 'shipments',
  container_history: 'containers',
  container_import_deadline_history: 'container_import_deadlines',
  container_hold_history: 'container_holds',
  container_fee_history: 'container_fees',
}
const VIEWS = ['shipments', 'containers', 'tracking_requests', 'transport_events']

/** Columns of several parts of one value: a swap of them cannot be told from it. */
const CASTS = /^(?:value|value_\w+|data_type)$/

const target = useTestWarehouse()
let tables: ReadonlyMap<string, TableSnapshot>

beforeAll(async () => {
  // Places and vessels come last, so that each reference is missed; types before the values.
  const order = [...streams].reverse().sort((one, other) => rank(one) - rank(other))
  const pages = order.map(pageOf)
  const { ledger } = await applyPages(target.warehouse, pages, { at: SEEN_AT })
  expect(ledger.failures).toEqual([])
  tables = await loadTables(target.warehouse)
})
const rank = (stream: string): number => ['custom_fields', 'ports'].indexOf(stream)

const rowsOf = (table: string): readonly Row[] => tables.get(table)?.rows ?? []

function text(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** A block a row with a line a column, in the order of the table: its name, type and value. */
function show(name: string, rows: readonly Row[], types: ReadonlyMap<string, string>): string {
  const blocks = rows.map((row) => {
    const isShown = (column: string): boolean =>
      !column.startsWith('_') || (column === '_unmapped' && row[column] !== null)
    const lines = Object.keys(row)
      .filter(isShown)
      .map((column) => {
        const type = (types.get(column) ?? '').replace('timestamp with time zone', 'timestamptz')
        return `  ${column.padEnd(34)} ${type.padEnd(11)} ${text(row[column])}`
      })
    return [name, ...lines].join('\n')
  })
  return [...new Set(blocks)].sort().join('\n\n')
}

function showTable(table: string): string {
  return show(table, rowsOf(table), tables.get(table)!.types)
}

/** The members of a version that its row lacks. */
function showHistory(table: string): string {
  const rows = rowsOf(HISTORIES[table]!)
  const beside = rowsOf(table).map((version) => {
    const shared = Object.entries(version).filter(
      ([name]) => name in rows[0]! && !name.startsWith('_'),
    )
    const isVersionOf = (row: Row): boolean =>
      shared.every(([name, value]) => text(row[name]) === text(value))
    expect(rows.filter(isVersionOf), text(version)).toHaveLength(1)
    const names = new Set(shared.map(([name]) => name))
    return Object.fromEntries(Object.entries(version).filter(([name]) => !names.has(name)))
  })
  expect(beside).toHaveLength(rows.length)
  return show(table, beside, tables.get(table)!.types)
}

async function expectShown(name: string, parts: readonly string[]): Promise<void> {
  expect(parts.join('')).not.toBe('')
  const path = `../../fixtures/resources/${name}.rows.txt`
  await expect(`${parts.join('\n\n')}\n`).toMatchFileSnapshot(path)
}

describe('a full record', { tags: ['K8'] }, () => {
  it.each(streams)('of %s makes these rows', async (stream) => {
    const isOf = (table: string): boolean => table.startsWith(`${stream.replace(/s$/, '')}_`)
    const children = CHILDREN.filter(isOf)
    const histories = Object.keys(HISTORIES).filter(isOf)
    const parts = [showTable(stream), ...children.map(showTable), ...histories.map(showHistory)]
    await expectShown(stream, parts)
  })

  it.each(streams)('of %s fills every column, each with a value of its own', (stream) => {
    const rows = rowsOf(stream)
    const columns = [...tables.get(stream)!.types.keys()].filter((name) => !name.startsWith('_'))
    const empty = columns.filter((name) => rows.every((row) => row[name] === null))
    expect(empty).toEqual([])
    for (const row of rows) {
      const values = columns.filter((name) => row[name] !== null && !CASTS.test(name))
      const texts = values.map((name) => text(row[name])).sort()
      expect(texts.filter((value, at) => value === texts[at + 1])).toEqual([])
      expect(row).toMatchObject({ _coercions: null, _deleted_at: null, _sync_run_id: null })
      expect(row).toMatchObject({ _observed_at: STAMP, _first_seen_at: STAMP, _changed_at: STAMP })
      if (stream !== 'other_resources') expect(row._unmapped).toBeNull()
    }
  })

  it('names the ports, terminals and vessels that it points to: they are asked for', async () => {
    const queue = await target.rows<{ entry: string }>`
      select resource_type || ' ' || resource_id as entry
      from tracking_sync.refetch_queue order by entry`
    expect(queue.map(({ entry }) => entry)).toEqual([
      'metro_area m-1',
      'port p-1',
      'port p-2',
      'port p-3',
      'rail_terminal r-1',
      'terminal t-1',
      'terminal t-2',
      'vessel v-1',
    ])
  })
})

it('fills all that the public interface can fill', { tags: ['K8'] }, async () => {
  const parts = VIEWS.map(async (view) => {
    const rows = await target.rows<Row>`select * from ${sql.table(`tracking_datasync.${view}`)}`
    return show(view, rows, new Map())
  })
  await expectShown('datasync', await Promise.all(parts))
})
