import { sql } from 'kysely'
import { DuckDBInstance } from '@duckdb/node-api'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import {
  parseManifest,
  type Manifest,
  type ManifestTable,
} from '../../../src/extensions/lake/manifest.js'
import type { Warehouse } from '../../../src/warehouse/connection/warehouse.js'

/** The rows of a table, each as a text of its values, sorted: equal texts mean equal rows. */
export type Rows = readonly string[]

export async function readManifestOf(folder: string): Promise<Manifest> {
  const manifest = parseManifest(await readFile(join(folder, 'manifest/manifest.json'), 'utf8'))
  if (manifest === undefined) throw new Error('there is no manifest')
  return manifest
}

/** Every Parquet file that is there, whether it counts or not. */
export async function filesIn(folder: string): Promise<string[]> {
  const paths = await readdir(folder, { recursive: true })
  return paths.filter((path) => path.endsWith('.parquet')).sort()
}

/** The latest rows of a table in the lake are those of the warehouse; of every table unless named. */
export async function expectSame(
  warehouse: Warehouse,
  folder: string,
  name?: string,
): Promise<void> {
  const reader = await openLakeReader(folder)
  const { tables } = await readManifestOf(folder)
  let compared = 0
  for (const table of tables.filter((one) => one.folder.startsWith(`tables/${name ?? ''}`))) {
    const expected = await rowsOfWarehouse(warehouse, table)
    expect({ [table.folder]: await reader.latest(table) }).toEqual({ [table.folder]: expected })
    expect(table.row_count).toBe(expected.length)
    compared += expected.length
  }
  expect(compared).toBeGreaterThan(0)
}

const own = ({ name }: { readonly name: string }): boolean => name !== '_beyond_type'

/** Rows of PostgreSQL, by its own conversions. */
export async function rowsOfWarehouse(warehouse: Warehouse, table: ManifestTable): Promise<Rows> {
  const [kind, name] = table.folder.split('/')
  const found = await warehouse.query(
    'find the table',
    sql<{ schema: string }>`select table_schema as schema from information_schema.tables
    where table_name = ${name} and table_schema in ('tracking', 'tracking_analytics')
        and (table_type = 'VIEW') = (${kind} = 'answers')`,
  )
  const columns = table.columns.filter(own).map(({ name: column, type }) => {
    const quoted = `"${column}"`
    if (type.startsWith('timestamp')) {
      return `(extract(epoch from ${quoted}) * 1000000)::bigint::text`
    }
    const [, digits, places] = /^decimal\((\d+), (\d+)\)$/.exec(type) ?? []
    if (digits !== undefined) {
      const whole = Number(digits) - Number(places)
      const fits = `abs(${quoted}) < 1e${whole} and ${quoted} = trunc(${quoted}, ${places})`
      return `(case when ${fits} then ${quoted} end)::numeric(${digits}, ${places})::text`
    }
    return type.endsWith('[]') ? `array_to_json(${quoted})::text` : `${quoted}::text`
  })
  const rows = await warehouse.query(
    'read the table',
    sql<{
      row: (string | null)[]
    }>`select array[${sql.raw(columns.join(', '))}] as row from ${sql.raw(found[0]!.schema)}.${sql.raw(name!)}`,
  )
  return sorted(rows.map(({ row }) => row))
}

/** Where the SQL of docs/lake.md is run, with the folder of a test. */
export async function openLakeReader(folder: string) {
  const page = await readFile(fileURLToPath(new URL('../../../docs/lake.md', import.meta.url)))
  const [, shown = ''] = /### DuckDB\n\n```sql\n([^]*?)```/.exec(page.toString()) ?? []
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  const run = async (sqlText: string): Promise<Record<string, unknown>[]> =>
    (
      await connection.runAndReadAll(sqlText.replaceAll(`'lake/`, `'${folder}/`))
    ).getRowObjectsJson()
  const [files = '', containers = '', answers = ''] = shown.split(/(?<=;)\n\n/)
  await run(files)
  for (const { folder: table, kind, key } of (await readManifestOf(folder)).tables) {
    const name = table.split('/')[1]!
    const ofChanges = containers.replaceAll('containers', name)
    await run(
      kind === 'changes'
        ? ofChanges.replace('container_id', key.join(', '))
        : answers.replaceAll('answers/attention', table).replaceAll('attention', name),
    )
  }
  const latest = async (table: ManifestTable): Promise<Rows> => {
    const columns = table.columns.filter(own).map(({ name, type }) => {
      const quoted = `"${name}"`
      if (type.startsWith('timestamp')) return `epoch_us(${quoted})::varchar`
      return type.endsWith('[]') ? `to_json(${quoted})::varchar` : `${quoted}::varchar`
    })
    const name = table.folder.split('/')[1]!
    const rows = await run(`select [${columns.join(', ')}] as row from ${name}`)
    return sorted(rows.map(({ row }) => row as (string | null)[]))
  }
  return { run, latest }
}

/** Every row of every file that counts, by a reader that shares nothing with the writer. */
export async function rowsOfFiles(folder: string, table: ManifestTable): Promise<Rows> {
  const { files } = await readManifestOf(folder)
  const rows: (string | null)[][] = []
  for (const { path } of files.filter((file) => file.folder === table.folder)) {
    const file = await asyncBufferFromFile(join(folder, path))
    const parsers = { timestampFromMicroseconds: (micros: bigint) => micros }
    const records = await parquetReadObjects({ file, compressors, parsers })
    for (const record of records as Record<string, unknown>[]) {
      rows.push(table.columns.filter(own).map(({ name, type }) => textOf(record[name], type)))
    }
  }
  return sorted(rows)
}

function textOf(value: unknown, type: string): string | null {
  if (value === null || value === undefined) return null
  if (value instanceof Date) return value.toISOString().slice(0, 10)
  if (type === 'json') return JSON.stringify(value)
  return typeof value === 'object' ? JSON.stringify(value) : `${value as string | number}`
}

/** Rows of the warehouse as a reader in JavaScript has them: decimals and JSON as its numbers. */
export function asJavaScript(rows: Rows, table: ManifestTable): Rows {
  const columns = table.columns.filter(own)
  return sorted(
    rows.map((row) =>
      (JSON.parse(row) as (string | null)[]).map((value, at) => {
        const { type } = columns[at]!
        if (value === null) return null
        if (type === 'json' || type.endsWith('[]')) return JSON.stringify(JSON.parse(value))
        return type.startsWith('decimal') ? Number(value).toPrecision(12) : value
      }),
    ),
  )
}

function sorted(rows: readonly (readonly (string | null)[])[]): Rows {
  return rows.map((row) => JSON.stringify(row)).sort()
}
