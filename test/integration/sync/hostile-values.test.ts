import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Notes } from '../../../src/ingest/run.js'
import {
  ExactNumber,
  parseExactJson,
  stringifyExactJson,
} from '../../../src/source/jsonapi/exact-json.js'
import { rawStatement } from '../../../src/warehouse/connection/typed-database.js'
import { useTestWarehouse } from '../../support/reused-warehouse.js'
import { applyPages, type Page } from '../../support/scenes/apply-pages.js'
import { snapshotRows } from '../../support/snapshot-tables.js'
import { linesOf } from '../../support/tables.js'

/** Columns are compared as PostgreSQL shows them, in UTC. */
interface Value {
  readonly attribute: string
  readonly sent: unknown
  readonly stored: string | null
  /** Of the flag in `_coercions`, which also keeps what was sent. */
  readonly reason: string | null
}

const value = (
  attribute: string,
  sent: unknown,
  stored: string | null,
  reason: string | null = null,
): Value => ({ attribute, sent, stored, reason })
/** Kept as it is. */
const text = (sent: string) => value('seal_number', sent, sent)

/** A line a value: what is sent as JSON, the column (`-` for null), and the reason of a flag. */
const valuesOf = (attribute: string, table: string): Value[] =>
  linesOf(table).map(([sent = '', stored = '', reason = null]) =>
    value(attribute, parseExactJson(sent), stored === '-' ? null : stored, reason),
  )

const REPLACED = 'characters that PostgreSQL cannot store were replaced by U+FFFD'

/** No compression makes it fit into the entry of an index. */
const MEBIBYTE = randomBytes(512 * 1024).toString('hex')

const LATE = '2026-03-08T10:00:00Z'

/** T1, T2, T4 and T5; any other text is in test/unit/resources/text.test.ts. */
const TEXTS = [
  value('seal_number', 'a\u0000b', 'a\ufffdb', REPLACED),
  value('ref_numbers', ['a\u0000b'], '{a\ufffdb}', REPLACED),
  value('fees_at_pod_terminal', [{ 'k\u0000': 'v\u0000' }], '[{"k\ufffd": "v\ufffd"}]', REPLACED),
  value('seal_number', 'a\ud800', 'a\ufffd', REPLACED),
  value('seal_number', '\udc00\ud800', '\ufffd\ufffd', REPLACED),
  value('ref_numbers', ['\udfffb'], '{\ufffdb}', REPLACED),
  value('fees_at_pod_terminal', [{ k: '\ud800' }], '[{"k": "\ufffd"}]', REPLACED),
  value('number', MEBIBYTE, MEBIBYTE),
  text(MEBIBYTE),
  value('import_deadlines', { [MEBIBYTE]: LATE }, `{"${MEBIBYTE}": "${LATE}"}`),
  value('holds_at_pod_terminal', [{ name: MEBIBYTE }], `[{"name": "${MEBIBYTE}"}]`),
  ...[
    '\u202eabc',
    '👩‍👩‍👧',
    'e\u0301',
    'a\ufeffb',
    `'; drop table x;-- "\\ $1 %s {{x}}`,
    'NULL',
    '',
  ].map(text),
]

const TIMES = valuesOf(
  'pod_arrived_at',
  String.raw`
  -- Z1 and Z6: every offset, fraction and change of the clocks is the same instant.
  "2026-03-08T10:00:00Z"           | 2026-03-08 10:00:00+00
  "2019-06-21T18:46:00-07:00"      | 2019-06-22 01:46:00+00
  "2026-03-08T10:00:00+05:30"      | 2026-03-08 04:30:00+00
  "2026-03-08T10:00:00+14:00"      | 2026-03-07 20:00:00+00
  "2026-03-08T10:00:00-00:00"      | 2026-03-08 10:00:00+00
  "2026-03-08T10:00:00.999Z"       | 2026-03-08 10:00:00.999+00
  "2026-03-08T10:00:00.123456Z"    | 2026-03-08 10:00:00.123456+00
  "2026-03-08T10:00:00.123456789Z" | 2026-03-08 10:00:00.123457+00
  "2026-03-08t10:00:00z"           | 2026-03-08 10:00:00+00
  "2024-02-29T00:00:00Z"           | 2024-02-29 00:00:00+00
  "2000-02-29T00:00:00Z"           | 2000-02-29 00:00:00+00
  "1970-01-01T00:00:00Z"           | 1970-01-01 00:00:00+00
  "2100-12-31T23:59:59Z"           | 2100-12-31 23:59:59+00
  "2026-11-01T01:30:00-07:00"      | 2026-11-01 08:30:00+00
  "2026-11-01T01:30:00-08:00"      | 2026-11-01 09:30:00+00
  -- Z2 and Z3: neither a zone nor a time of day is guessed.
  "2026-03-08T02:30:00"            | - | a time without an offset from UTC
  "2026-03-08 02:30:00"            | - | a time without an offset from UTC
  "2026-03-08T02:30"               | - | a time without an offset from UTC
  "2026-03-08T02:30:00.5"          | - | a time without an offset from UTC
  "2020-05-20"                     | - | a date without a time
  -- Z8: no day or hour becomes another; PostgreSQL itself takes the next second of two forms.
  "2026-03-08T24:00:00Z"           | 2026-03-09 00:00:00+00
  "2026-03-08T24:00:00.000Z"       | 2026-03-09 00:00:00+00
  "2026-03-08T23:59:60Z"           | 2026-03-09 00:00:00+00
  "2026-02-30T00:00:00Z"           | - | no such calendar day
  "2026-02-29T00:00:00Z"           | - | no such calendar day
  "1900-02-29T00:00:00Z"           | - | no such calendar day
  "2026-04-31T00:00:00Z"           | - | no such calendar day
  "2026-13-01T00:00:00Z"           | - | no such calendar day
  "2026-00-10T00:00:00Z"           | - | no such calendar day
  "2026-01-00T00:00:00Z"           | - | no such calendar day
  "0000-01-01T00:00:00Z"           | - | no such calendar day
  "2026-01-01T25:00:00Z"           | - | no such hour
  "2026-01-01T24:00:01Z"           | - | no such hour
  "2026-01-01T24:00:00.5Z"         | - | no such hour
  "2026-01-01T23:60:00Z"           | - | no such minute or second
  "2026-01-01T23:59:61Z"           | - | no such minute or second
  "2026-01-01T00:00:00+16:00"      | - | no such offset from UTC
  "2026-01-01T00:00:00+05:60"      | - | no such offset from UTC
  "2021-02-29"                     | - | not an RFC 3339 date-time
  -- Z9: far away is flagged as long as PostgreSQL can hold it.
  "9999-12-31T23:59:59Z"           | 9999-12-31 23:59:59+00 | outside 1970 to 2100; stored as sent
  "0001-01-01T00:00:00Z"           | 0001-01-01 00:00:00+00 | outside 1970 to 2100; stored as sent
  "1969-12-31T23:59:59Z"           | 1969-12-31 23:59:59+00 | outside 1970 to 2100; stored as sent
  "2101-01-01T00:00:00Z"           | 2101-01-01 00:00:00+00 | outside 1970 to 2100; stored as sent
  "10000-01-01T00:00:00Z"          | - | not an RFC 3339 date-time
  "+010000-01-01T00:00:00Z"        | - | not an RFC 3339 date-time
  -- Z10: PostgreSQL would take most of these.
  "now"                            | - | not an RFC 3339 date-time
  "infinity"                       | - | not an RFC 3339 date-time
  "-infinity"                      | - | not an RFC 3339 date-time
  "epoch"                          | - | not an RFC 3339 date-time
  "02/11/2022 14:18"               | - | not an RFC 3339 date-time
  "1700000000"                     | - | not an RFC 3339 date-time
  1700000000                       | - | not an RFC 3339 date-time
  "2026-03-08T10:00:00Z BC"        | - | not an RFC 3339 date-time
  "2026-03-08T10:00:00 Asia/Tokyo" | - | not an RFC 3339 date-time
  " 2026-03-08T10:00:00Z"          | - | not an RFC 3339 date-time
  "2026-03-08T10:00:00Z\n"         | - | not an RFC 3339 date-time
  "2026-W10-1T00:00:00Z"           | - | not an RFC 3339 date-time
  "٢٠٢٦-03-08T10:00:00Z"           | - | not an RFC 3339 date-time
  `,
)

const NUMBERS = [
  ...valuesOf(
    'weight_in_lbs',
    `
    -- N1: decimal fractions are exact.
    0.1                              | 0.1
    0.30000000000000004              | 0.30000000000000004
    1.005                            | 1.005
    850.00                           | 850
    1e-7                             | 0.0000001
    25.471353799804547               | 25.471353799804547
    "850.00"                         | 850.00
    "0.10"                           | 0.10
    -- N2: digits that a JS number would lose.
    9007199254740993                 | 9007199254740993
    -9007199254740993                | -9007199254740993
    850.000000000000000001           | 850.000000000000000001
    12345678901234567890.123456789   | 12345678901234567890.123456789
    1e21                             | 1000000000000000000000
    1e200000                         | - | out of range
    -1e200000                        | - | out of range
    1e-200000                        | - | out of range
    "1e200000"                       | - | out of range
    "${'9'.repeat(1_001)}"           | - | not a number
    -- N3: texts that are not numbers.
    "NaN"                            | - | not a number
    "Infinity"                       | - | not a number
    "-Infinity"                      | - | not a number
    "inf"                            | - | not a number
    "0x10"                           | - | not a number
    "1_000"                          | - | not a number
    "."                              | - | not a number
    "1."                             | - | not a number
    "+5"                             | - | not a number
    "٤٤"                             | - | not a number
    -- N5: weights; a comma means two things in two countries.
    44000.0                          | 44000
    "4.4e4"                          | 44000
    2147483648                       | 2147483648
    -5                               | -5
    0                                | 0
    -0                               | 0
    "44,000"                         | - | not a number
    `,
  ),
  ...valuesOf(
    'equipment_length',
    `
    20.00000000000000000001          | - | not a whole number
    1e-400                           | - | not a whole number
    39.99999999999999999999999       | - | not a whole number
    `,
  ),
]

/** Of one container more, in the tables that hang on it. */
const OF_CHILDREN = {
  pickup_lfd: '2026-03-08T10:00:00.123456Z',
  fees_at_pod_terminal: [{ type: 'exam' }, { type: 'demurrage', amount: 1e-7 }],
  new_thing: new ExactNumber('850.000000000000000001'),
}

const values = [...TEXTS, ...TIMES, ...NUMBERS].map((one, at) => ({
  ...one,
  id: `c-${at}`,
  shown: JSON.stringify(one.sent).slice(0, 60),
}))
const container = (id: string, attributes: object) => ({ id, type: 'container', attributes })
/** One value a container. */
const PAGES: readonly Page[] = [
  { data: values.map(({ id, attribute, sent }) => container(id, { [attribute]: sent })) },
  { data: [container('with-children', OF_CHILDREN)] },
]

const target = useTestWarehouse()
let notes: Notes

beforeAll(async () => {
  notes = await applyPages(target.warehouse, PAGES)
})

const query = (sqlText: string, ...parameters: unknown[]): Promise<unknown[]> =>
  target.warehouse.query('look', rawStatement(sqlText, parameters))

test('the records with such values are counted', { tags: ['FD13'] }, async () => {
  const flagged = await target.value<number>`
    select count(*)::integer as flagged from tracking.containers where _coercions is not null`
  expect(flagged).toBeGreaterThan(20)
  const counts = { inserted: values.length + 1, coerced: flagged }
  expect(notes.ledger.counter('containers')).toMatchObject(counts)
  expect(notes.ledger.failures).toEqual([])
})

describe('a hostile value', { tags: ['T1', 'T2', 'T4', 'T5', 'N1', 'N2', 'N3', 'N5'] }, () => {
  test.each(values)(
    'is in its column as promised, and its flag keeps what was sent: $attribute $shown',
    { tags: ['Z1', 'Z2', 'Z3', 'Z6', 'Z8', 'Z9', 'Z10'] },
    async ({ id, attribute, sent, stored, reason }) => {
      const [row] = await query(
        `select ${attribute}::text as stored,
          _coercions -> '${attribute}' ->> 'reason' as reason,
          _coercions -> '${attribute}' ->> 'original' as original
        from tracking.containers where container_id = $1`,
        id,
      )
      const original = reason === null ? null : stringifyExactJson(sent)
      expect(row).toEqual({ stored, reason, original })
    },
  )

  test('a deadline is exact to the microsecond in its own row', { tags: ['Z1'] }, async () => {
    const rows = await target.rows`
      select deadline_at::text from tracking.container_import_deadlines
      where container_id = ${'with-children'} and kind = 'pickup_lfd'`
    expect(rows).toEqual([{ deadline_at: '2026-03-08 10:00:00.123456+00' }])
  })

  test('a fee without an amount is kept, a small one exact', { tags: ['N1', 'N4'] }, async () => {
    const rows = await target.rows`
      select type, amount::text, currency_code from tracking.container_fees
      where container_id = ${'with-children'} order by position`
    expect(rows).toEqual([
      { type: 'exam', amount: null, currency_code: null },
      { type: 'demurrage', amount: '0.0000001', currency_code: null },
    ])
    const unmapped = await target.value`
      select _unmapped ->> 'new_thing' from tracking.containers
      where container_id = ${'with-children'}`
    expect(unmapped).toBe(OF_CHILDREN.new_thing.source)
  })

  test('is written once: the same pages again change no row', { tags: ['I2'] }, async () => {
    const before = await snapshotRows(target.warehouse)
    await applyPages(target.warehouse, PAGES)
    expect(await snapshotRows(target.warehouse)).toEqual(before)
  })
})
