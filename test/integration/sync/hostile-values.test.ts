import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { rawStatement } from '../../../src/warehouse/connection/typed-database.js'
import { useTestWarehouse } from '../../support/reused-warehouse.js'
import { applyPages, type Page } from '../../support/scenes/apply-pages.js'
import { snapshotRows } from '../../support/snapshot-tables.js'

/**
 * Values of columns are compared as PostgreSQL shows them, in UTC; a flag is an entry in
 * `_coercions`.
 */
interface Value {
  readonly attribute: string
  readonly sent: unknown
  readonly stored: string | null
  readonly isFlagged: boolean
}

const value = (attribute: string, sent: unknown, stored: string | null, isFlagged = false) => ({
  attribute,
  sent,
  stored,
  isFlagged,
})
/** Kept as it is. */
const text = (sent: string) => value('seal_number', sent, sent)
const time = (sent: unknown, stored: string | null, isFlagged = stored === null) =>
  value('pickup_lfd', sent, stored, isFlagged)
const number = (sent: unknown, stored: string | null) =>
  value('weight_in_lbs', sent, stored, stored === null)

/** No compression makes it fit into the entry of an index. */
const MEBIBYTE = randomBytes(512 * 1024).toString('hex')

const LATE = '2026-03-08T10:00:00Z'

const CASES: Readonly<Record<string, readonly Value[]>> = {
  T1: [
    value('seal_number', 'a\u0000b', 'a\ufffdb', true),
    value('ref_numbers', ['a\u0000b'], '{a\ufffdb}', true),
    value('fees_at_pod_terminal', [{ 'k\u0000': 'v\u0000' }], '[{"k\ufffd": "v\ufffd"}]', true),
  ],
  T2: [
    value('seal_number', 'a\ud800', 'a\ufffd', true),
    value('seal_number', '\udc00\ud800', '\ufffd\ufffd', true),
    value('ref_numbers', ['\udfffb'], '{\ufffdb}', true),
    value('fees_at_pod_terminal', [{ k: '\ud800' }], '[{"k": "\ufffd"}]', true),
  ],
  T4: [
    value('number', MEBIBYTE, MEBIBYTE),
    text(MEBIBYTE),
    value('import_deadlines', { [MEBIBYTE]: LATE }, `{"${MEBIBYTE}": "${LATE}"}`),
    value('holds_at_pod_terminal', [{ name: MEBIBYTE }], `[{"name": "${MEBIBYTE}"}]`),
  ],
  T5: [
    '\u202eabc',
    '👩‍👩‍👧',
    'e\u0301',
    'a\ufeffb',
    `'; drop table x;-- "\\ $1 %s {{x}}`,
    'NULL',
    '',
  ].map(text),
  Z1: [
    time('2019-06-21T18:46:00-07:00', '2019-06-22 01:46:00+00'),
    time('2026-03-08T10:00:00+05:30', '2026-03-08 04:30:00+00'),
    time('2026-03-08T10:00:00+14:00', '2026-03-07 20:00:00+00'),
    time('2026-03-08T10:00:00.999Z', '2026-03-08 10:00:00.999+00'),
    time('2026-03-08T10:00:00.123456Z', '2026-03-08 10:00:00.123456+00'),
    time('2026-03-08T10:00:00.123456789Z', '2026-03-08 10:00:00.123457+00'),
  ],
  Z2: [time('2026-03-08T02:30:00', null)],
  Z6: [
    time('2026-03-08T10:30:00Z', '2026-03-08 10:30:00+00'),
    time('2026-11-01T01:30:00-07:00', '2026-11-01 08:30:00+00'),
    time('2026-11-01T01:30:00-08:00', '2026-11-01 09:30:00+00'),
  ],
  Z8: [
    time('2026-02-30T00:00:00Z', null),
    time('2026-13-01T00:00:00Z', null),
    time('0000-00-00T00:00:00Z', null),
    time('2026-03-08T24:00:00Z', '2026-03-09 00:00:00+00'),
    time('2026-03-08T23:59:60Z', '2026-03-09 00:00:00+00'),
  ],
  Z9: [
    time('9999-12-31T23:59:59Z', '9999-12-31 23:59:59+00', true),
    time('0001-01-01T00:00:00Z', '0001-01-01 00:00:00+00', true),
    time('10000-01-01T00:00:00Z', null),
  ],
  Z10: ['now', 'today', 'infinity', 'epoch', '02/11/2022 14:18', 1_700_000_000].map((sent) =>
    time(sent, null),
  ),
  N1: [number('0.10', '0.10'), number(1.005, '1.005'), number(1e-7, '0.0000001')],
  N2: [
    number('9007199254740993', '9007199254740993'),
    number(1e21, '1000000000000000000000'),
    number('1e200000', null),
  ],
  N3: [number('NaN', null), number('Infinity', null), number('-Infinity', null)],
  N5: [number('44,000', null), number('4.4e4', '44000'), number(2 ** 31, '2147483648')],
}

/** Of one container more, in the tables that hang on it. */
const OF_CHILDREN = {
  pickup_lfd: '2026-03-08T10:00:00.123456Z',
  fees_at_pod_terminal: [{ type: 'exam' }, { type: 'demurrage', amount: 1e-7 }],
}

const values = Object.values(CASES).flat()
const idOf = (one: Value): string => `c-${values.indexOf(one)}`
const container = (id: string, attributes: object) => ({ id, type: 'container', attributes })
/** One value a container. */
const PAGES: readonly Page[] = [
  { data: values.map((one) => container(idOf(one), { [one.attribute]: one.sent })) },
  { data: [container('with-children', OF_CHILDREN)] },
]

const target = useTestWarehouse()
let coerced: number

beforeAll(async () => {
  const { ledger } = await applyPages(target.warehouse, PAGES)
  expect(ledger.failures).toEqual([])
  expect(ledger.counter('containers').inserted).toBe(values.length + 1)
  coerced = ledger.counter('containers').coerced
})

const query = <Row>(sqlText: string, ...parameters: unknown[]): Promise<Row[]> =>
  target.warehouse.query('look', rawStatement<Row>(sqlText, parameters))

test('the records with such values are counted', { tags: ['FD13'] }, async () => {
  const flagged = await target.value<number>`
    select count(*)::integer as flagged from tracking.containers where _coercions is not null`
  expect(coerced).toBeGreaterThan(20)
  expect(coerced).toBe(flagged)
})

describe('a hostile value, from the bytes of a page into PostgreSQL', () => {
  test.each(values)(
    'is in its column as promised, and flagged if it differs: $attribute',
    { tags: ['T1', 'T2', 'T4', 'T5', 'Z1', 'Z2', 'Z6', 'Z8', 'Z9', 'Z10', 'N1', 'N2', 'N3', 'N5'] },
    async (one) => {
      const [row] = await query<{ stored: string | null; isFlagged: boolean }>(
        `select ${one.attribute}::text as stored, coalesce(_coercions ? '${one.attribute}', false) as "isFlagged"
        from tracking.containers where container_id = $1`,
        idOf(one),
      )
      expect(row, one.attribute).toEqual({ stored: one.stored, isFlagged: one.isFlagged })
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
  })

  test('is written once: the same pages again change no row', { tags: ['I2'] }, async () => {
    const before = await snapshotRows(target.warehouse, { hasVersions: true })
    await applyPages(target.warehouse, PAGES)
    expect(await snapshotRows(target.warehouse, { hasVersions: true })).toEqual(before)
  })
})
