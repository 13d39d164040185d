import { sql } from 'kysely'
import { DuckDBInstance } from '@duckdb/node-api'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { toLakeColumns } from '../../../src/extensions/lake/column-types.js'
import { ParquetWriter } from '../../../src/extensions/lake/parquet-writer.js'
import { readSnapshot } from '../../../src/extensions/lake/read-snapshot.js'
import { stageRows } from '../../../src/extensions/lake/stage-rows.js'
import { writeFiles } from '../../../src/extensions/lake/write-files.js'
import { useFolder } from '../../support/temp-folder.js'
import { createTestWarehouse } from '../../support/test-warehouse.js'

const folder = useFolder('file')

/** By type: values that Parquet can say, and such as it cannot. */
const VALUES: Readonly<Record<string, readonly [good: string[], beyond: string[]]>> = {
  boolean: [['true', 'false'], []],
  smallint: [['-32768', '32767'], []],
  integer: [['-2147483648', '2147483647'], []],
  bigint: [['-9223372036854775808', '9223372036854775807'], []],
  real: [['NaN', 'Infinity', '-Infinity', '3.4028235e+38', '1e-45', '-0'], []],
  'double precision': [['NaN', 'Infinity', '1.7976931348623157e+308', '5e-324', '-0'], []],
  numeric: [['-99999999999999999999.999999999999999999'], ['NaN', '-Infinity', '1e20', '1e-19']],
  'numeric(5,2)': [['-999.99'], ['NaN']],
  'numeric(50,4)': [['1.5'], ['NaN', '1e40']],
  date: [
    ['0001-01-01', '9999-12-31'],
    ['infinity', '-infinity', '0001-12-31 BC', '4713-01-01 BC', '10000-01-01', '5874897-12-31'],
  ],
  'timestamp with time zone': [
    ['0001-01-01 00:00:00+00', '9999-12-31 23:59:59.999999+00'],
    ['infinity', '0001-01-01 00:00:00+08', '4713-01-01 00:00:00+00 BC', '294276-12-31 00:00:00+00'],
  ],
  'timestamp without time zone': [
    ['0001-01-01 00:00:00', '9999-12-31 23:59:59.999999'],
    ['infinity', '-infinity', '0001-12-31 16:00:00 BC', '294276-12-31 00:00:00'],
  ],
  'time without time zone': [['00:00:00', '23:59:59.999999'], ['24:00:00']],
  interval: [['-178000000 years', '00:00:00.000001'], []],
  text: [['', '\\N', 'NULL', '"', 'a,b\r\nc', '\u0001\u{10FFFF}'], []],
  jsonb: [
    ['null', '1e400', '"\\\\u2028"', '{"": [[]]}', `${'['.repeat(500)}${']'.repeat(500)}`],
    [],
  ],
  bytea: [['\\x', '\\x00ff'], []],
  uuid: [['ffffffff-ffff-ffff-ffff-ffffffffffff'], []],
  'text[]': [['{}', '{NULL,"","a\\"b"}', '{x}'], ['{{a},{b}}']],
  'integer[]': [['{}', '{NULL,-2147483648}', '[5:6]={1,2}'], ['{{1,2},{3,4}}']],
  'bigint[]': [['{9223372036854775807}'], ['{{1},{2}}']],
  'boolean[]': [['{t,NULL}'], ['{{t},{f}}']],
  'numeric[]': [['{NaN,1e400}', '{{1},{2}}'], []],
  'timestamp with time zone[]': [['{infinity,"0044-03-15 BC"}'], []],
}

it('an export stops at no value, and counts what it cannot say', { tags: ['JB2'] }, async () => {
  const { warehouse, drop } = await createTestWarehouse({ isMigrated: false })
  const types = Object.keys(VALUES)
  const nameOf = (type: string): string => `the "${type}"`
  const quoted = (type: string): string => `"the ""${type}"""`
  const list = types.map((type) => `${quoted(type)} ${type}`).join(', ')
  await warehouse.query(
    'make',
    sql`create table public.extremes (row_number integer, ${sql.raw(list)})`,
  )
  let rows = 0
  for (const type of types) {
    for (const value of VALUES[type]!.flat()) {
      rows += 1
      await warehouse.query(
        'insert',
        sql`insert into public.extremes (row_number, ${sql.raw(quoted(type))}) values (${rows}, ${value})`,
      )
    }
  }
  const columns = toLakeColumns(types.map((type) => ({ name: nameOf(type), type })))
  const work = { name: 'out', pathOf: (name: string) => join(folder.path, name) }
  const writer = await ParquetWriter.open(work)
  const query = `select ${columns.map(({ sourceSql }) => sourceSql).join(', ')} from public.extremes`
  const staged = await readSnapshot(warehouse, 'read', new AbortController().signal, (snapshot) =>
    stageRows('extremes', query, { snapshot, isParted: false, work, onRows: () => undefined }),
  )
  const partitioning = { name: 'exported_on', value: '2026-01-01', isInRows: false }
  const options = { writer, work, export: 1 }
  const [file] = await writeFiles('tables/extremes', columns, staged, partitioning, options)
  writer.close()

  const beyond = types.flatMap((type) => {
    const count = VALUES[type]![1].length
    return count === 0 ? [] : [[nameOf(type), count] as const]
  })
  expect(file).toMatchObject({ row_count: rows, beyond_type: Object.fromEntries(beyond) })
  const instance = await DuckDBInstance.create(':memory:')
  const reader = await instance.connect()
  const counts = types.map((type) => `count(${quoted(type)})`).join(', ')
  const found = await reader.runAndReadAll(
    `select [${counts}] as counts, count(_beyond_type) as beyond
    from read_parquet('${file!.workPath}')`,
  )
  const said = await reader.runAndReadAll(
    `select ${quoted('date')}::varchar as day, _beyond_type as beyond
    from read_parquet('${file!.workPath}')
    where ${quoted('date')} is not null or _beyond_type like '%date%'`,
  )
  instance.closeSync()
  expect(found.getRowObjectsJson()).toEqual([
    {
      counts: types.map((type) => String(VALUES[type]![0].length)),
      beyond: String(beyond.reduce((sum, [, count]) => sum + count, 0)),
    },
  ])
  const days = said
    .getRowObjectsJson()
    .map(({ day, beyond: text }): unknown => day ?? JSON.parse(text as string))
  const [good, lost] = VALUES.date!
  expect(days).toEqual([...good, ...lost.map((value) => ({ [nameOf('date')]: value }))])
  await drop()
})
