import { describe, expect, test } from 'vitest'
import {
  containerChildren,
  type ChildTable,
} from '../../../src/warehouse/rows/container-children.js'
import { useTestWarehouse } from '../../support/reused-warehouse.js'
import { container, flatten } from '../../unit/resources/flat-rows.js'
import { rawStatement } from '../../../src/warehouse/connection/typed-database.js'

/** Rows that the functions of the warehouse make from a container's columns. */
const opened = useTestWarehouse()

type Row = Readonly<Record<string, unknown>>
type Stored = Readonly<Record<string, string | null>>

const [deadlineTable, holdTable, feeTable] = containerChildren as [
  ChildTable,
  ChildTable,
  ChildTable,
]

/** Types of what the functions take, by column; numbers, instants and days come back as texts. */
const TYPES: Readonly<Record<string, string>> = {
  pod_timezone: 'text',
  final_destination_timezone: 'text',
  _coercions: 'jsonb',
  import_deadline_sources: 'jsonb',
  holds_at_pod_terminal: 'jsonb',
  fees_at_pod_terminal: 'jsonb',
  ind_facility_holds: 'jsonb',
  ind_facility_fees: 'jsonb',
}

async function children(table: ChildTable, stored: Stored): Promise<Row[]> {
  const columns = [table.keyColumn, ...table.material, ...table.immaterial]
  const wanted = columns.map((name) =>
    name === 'position' || name.startsWith('is_') ? `made.${name}` : textOf(name),
  )
  const taken = table.madeOf.map((name, at) => `$${at + 1}::${TYPES[name] ?? 'timestamptz'}`)
  const known = (table.zones ?? []).map(
    (name) =>
      `(select name from tracking_analytics.time_zones where name = ${taken[table.madeOf.indexOf(name)]!})`,
  )
  return opened.warehouse.query(
    'derive',
    rawStatement(
      `select ${wanted.join(', ')}
    from tracking_sync.${table.madeBy}(${[...taken, ...known].join(', ')}) as made
    order by ${table === deadlineTable ? 'made.kind' : 'made.place, made.position'}`,
      [...table.madeOf.map((name) => stored[name] ?? null)],
    ),
  )
}

function textOf(name: string): string {
  const instant = `to_char(made.${name} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`
  return `${name === 'deadline_at' ? instant : `made.${name}::text`} as ${name}`
}

const deadlines = (stored: Stored): Promise<Row[]> => children(deadlineTable, stored)
const holds = (list: unknown): Promise<Row[]> =>
  children(holdTable, { holds_at_pod_terminal: JSON.stringify(list) })
const fees = (json: string): Promise<Row[]> => children(feeTable, { fees_at_pod_terminal: json })

async function localDate(instant: string, zone: string | null): Promise<Row> {
  const [row] = await deadlines({ pickup_lfd_terminal: instant, pod_timezone: zone })
  return { date: row?.local_date, isZoneKnown: row?.is_zone_known }
}

const parsed = (text: unknown): unknown => JSON.parse(String(text))

const LOS_ANGELES = 'America/Los_Angeles'
const CHICAGO = 'America/Chicago'

describe('import deadlines', () => {
  const winter = '2022-01-21T08:00:00Z'

  test('without a deadline, or with a text that is not a day, there are no rows', async () => {
    expect(await deadlines({ pod_timezone: LOS_ANGELES })).toEqual([])
    for (const original of ['2026-02-30', '0000-01-01', '2026-00-10', 'soon', '', 5, {}]) {
      const coercion = { reason: 'x', original: JSON.stringify(original) }
      const _coercions = JSON.stringify({ pickup_lfd: coercion })
      expect({ original, rows: await deadlines({ _coercions }) }).toEqual({ original, rows: [] })
    }
  })

  test.each([
    ['pickup_lfd_terminal', LOS_ANGELES, CHICAGO, LOS_ANGELES],
    ['pickup_lfd_terminal', null, CHICAGO, null],
    ['pickup_lfd_rail', LOS_ANGELES, CHICAGO, CHICAGO],
    ['pickup_lfd_rail', LOS_ANGELES, null, null],
    ['pickup_lfd_line', LOS_ANGELES, CHICAGO, LOS_ANGELES],
    ['pickup_lfd_line', LOS_ANGELES, null, LOS_ANGELES],
    ['pickup_lfd', LOS_ANGELES, CHICAGO, LOS_ANGELES],
    ['pickup_lfd', LOS_ANGELES, null, LOS_ANGELES],
  ] as const)(
    '%s, with %s at the port and %s inland, applies in %s',
    { tags: ['FE1'] },
    async (kind, pod, final, zone) => {
      const stored = { [kind]: winter, pod_timezone: pod, final_destination_timezone: final }
      const rows = await deadlines(stored)
      expect(rows.map(({ time_zone }) => time_zone)).toEqual([zone])
    },
  )
})

describe('deadlines under older names, and more than one day a source', { tags: ['JC9'] }, () => {
  const zones = { pod_timezone: LOS_ANGELES, final_destination_timezone: CHICAGO }
  /** Kind, place, zone and day of each deadline. */
  const made = async (attributes: Readonly<Record<string, unknown>>): Promise<string[]> => {
    const { columns, flat } = flatten(container({ ...zones, ...attributes }))
    const rows = await deadlines({ ...columns, _coercions: flat.coercions })
    return rows.map((row) => [row.kind, row.place, row.time_zone, row.local_date].join(' '))
  }

  // Midnight in Chicago is ten in the evening of the day before in Los Angeles.
  const chicago = (day: string) => `2026-03-${day}T05:00:00Z`
  const older = { ssl_lfd: '2026-03-10T07:00:00Z', ind_facility_lfd_on: chicago('12') }
  const newer = { pickup_lfd_line: '2026-03-11T07:00:00Z', pickup_lfd_rail: chicago('13') }
  const day = chicago('12')
  const LINE = `pickup_lfd_line port ${LOS_ANGELES}`
  const RAIL = `pickup_lfd_rail ramp ${CHICAGO}`

  test.each<[string, object, string[]]>([
    ['older names', older, [`${LINE} 2026-03-10`, `${RAIL} 2026-03-12`]],
    [
      'newer names beside older ones',
      { ...older, import_deadlines: newer },
      [`${LINE} 2026-03-11`, `${RAIL} 2026-03-13`],
    ],
    [
      'older names with bare dates',
      { ssl_lfd: '2026-03-10', ind_facility_lfd_on: '2026-03-12' },
      [`${LINE} 2026-03-10`, `${RAIL} 2026-03-12`],
    ],
    [
      'a bare date beside an older name',
      { ssl_lfd: older.ssl_lfd, import_deadlines: { pickup_lfd_line: '2026-03-11' } },
      [`${LINE} 2026-03-11`],
    ],
  ])('of %s each day is one row, the newer one', async (_, attributes, expected) => {
    expect(await made({ ...attributes })).toEqual(expected)
  })

  const atRamp = `pickup_lfd ramp ${CHICAGO} 2026-03-12`
  const atPort = `pickup_lfd port ${LOS_ANGELES} 2026-03-11`
  const bare = '2026-03-12'
  test.each<[string, object, string]>([
    ['the rail day', { pickup_lfd_rail: day }, atRamp],
    [
      'the rail day, not the port’s',
      { pickup_lfd_rail: day, pickup_lfd_line: chicago('10') },
      atRamp,
    ],
    ['both days', { pickup_lfd_rail: day, pickup_lfd_terminal: day }, atPort],
    ['both days, one of the line', { pickup_lfd_rail: day, pickup_lfd_line: day }, atPort],
    ['no day', { pickup_lfd_rail: chicago('13') }, atPort],
  ])('the pick that repeats %s is there', async (_, import_deadlines, expected) => {
    expect(await made({ pickup_lfd: day, import_deadlines })).toContainEqual(expected)
  })

  test('and so is a pick of an older name, of a bare date, and the unified one', async () => {
    const rail = { pickup_lfd_rail: bare }
    expect(await made({ pickup_lfd: day, ind_facility_lfd_on: day })).toContain(atRamp)
    expect(await made({ pickup_lfd: bare, import_deadlines: rail })).toContain(atRamp)
    const unified = { pickup_lfd_rail: day, unified: { value: day } }
    expect(await made({ import_deadlines: unified })).toContain(
      atRamp.replace('pickup_lfd', 'unified'),
    )
  })
})

describe('holds', () => {
  const other = { name: 'other', status: 'hold', description: 'DOWN - Broken Machine Over Pile' }
  const second = { name: 'other', status: 'hold', description: 'MACHINE - ' }

  test('clearing the first does not rename the second, and order names nobody', async () => {
    const keysOf = async (...list: object[]) => (await holds(list)).map(({ hold_key }) => hold_key)
    const both = await keysOf(other, second)
    expect(await keysOf(second)).toEqual([both[1]])
    expect((await keysOf(second, other)).sort()).toEqual(both.sort())
  })

  test('members of a hold beyond the interface, and values that are not texts, are kept beside it', async () => {
    const [row] = await holds([
      { name: { odd: 1 }, status: 'hold', source: 'terminal', position: 9 },
    ])
    expect(row).toMatchObject({ name: null, position: 0 })
    expect(parsed(row?._unmapped)).toEqual({ source: 'terminal', position: 9 })
    expect(parsed(row?._coercions)).toEqual({
      name: { reason: 'not a text', original: '{"odd": 1}' },
    })
  })

  test('an element that is not an object gets its own row, and anything but a list none', async () => {
    for (const list of [null, {}, 'customs', 5]) expect(await holds(list)).toEqual([])
    const rows = await holds(['customs', null, ['x']])
    expect(rows.map(({ _unmapped }) => parsed(_unmapped))).toEqual([
      { element: 'customs' },
      { element: null },
      { element: ['x'] },
    ])
  })

  test('1,000 holds, one twice among them, are 1,000 rows', { tags: ['N6'] }, async () => {
    const list = Array.from({ length: 999 }, (_, index) => ({
      name: `hold ${index}`,
      status: 'hold',
    }))
    const rows = await holds([...list, list[0]])
    expect(rows.map(({ name }) => name)).toEqual([...list.map(({ name }) => name), 'hold 0'])
    expect(new Set(rows.map(({ hold_key }) => hold_key)).size).toBe(1000)
    expect(rows.at(-1)?.hold_key).toBe(`${String(rows[0]?.hold_key)}-2`)
    expect(rows.map(({ position }) => position)).toEqual(rows.map((_, index) => index))
  })
})

describe('fees', () => {
  const ODD = ['"44,000"', '"NaN"', '"1e1001"', '"1e-20000"', '"٣"', 'true', '{"a": 1}']
  /** As sent, and as stored. */
  const AMOUNTS: [string, string | null][] = [
    ['0', '0'],
    ['-12.5', '-12.5'],
    ['1.005', '1.005'],
    ['1e-7', '0.0000001'],
    ['" 12 "', '12'],
    ['"1e1000"', `1${'0'.repeat(1000)}`],
    ['9007199254740993', '9007199254740993'],
    ['"850.00"', '850.00'],
    ['null', null],
    ...ODD.map((json): [string, null] => [json, null]),
  ]

  test(
    'amounts and currencies are as sent, or null beside the original',
    { tags: ['N3', 'N4'] },
    async () => {
      const currencies = ['usd', 'US$', 'XXX', '']
      const sent = AMOUNTS.map(([amount], at) => {
        const currency = JSON.stringify(currencies[at % 4])
        return `{"type":"exam","amount":${amount},"currency_code":${currency}}`
      })
      const rows = await fees(`[${sent.join()}]`)
      expect(
        rows.map(({ amount, currency_code, _coercions }) => [
          amount,
          currency_code,
          (parsed(_coercions) as Record<string, { original: string }> | null)?.amount?.original,
        ]),
      ).toEqual(
        AMOUNTS.map(([json, amount], at) => [
          amount,
          currencies[at % 4],
          ODD.includes(json) ? json : undefined,
        ]),
      )
    },
  )

  test(
    'a grown amount is the same fee; another currency is another',
    { tags: ['N4'] },
    async () => {
      const keyOf = async (amount: number, currency_code: string): Promise<unknown> => {
        const [fee] = await fees(JSON.stringify([{ type: 'exam', amount, currency_code }]))
        return fee?.fee_key
      }
      expect(await keyOf(2, 'USD')).toBe(await keyOf(1, 'USD'))
      expect(await keyOf(1, 'CAD')).not.toBe(await keyOf(1, 'USD'))
    },
  )
})

/** Instant, zone and the date there; `-` for no zone, or no date. */
const LOCAL_DATES = `
  2022-01-21T08:00:00Z America/Los_Angeles 2022-01-21
  2022-01-21T07:59:59Z America/Los_Angeles 2022-01-20
  2022-07-21T07:00:00Z America/Los_Angeles 2022-07-21
  2022-07-21T06:59:59Z America/Los_Angeles 2022-07-20
  2026-03-08T09:59:59Z America/Los_Angeles 2026-03-08
  2026-03-08T10:00:00Z America/Los_Angeles 2026-03-08
  2026-11-01T08:30:00Z America/Los_Angeles 2026-11-01
  2026-11-01T09:30:00Z America/Los_Angeles 2026-11-01
  2026-07-14T13:29:59Z Australia/Lord_Howe 2026-07-14
  2026-01-14T18:15:00Z Asia/Kathmandu 2026-01-15
  2026-03-08T23:59:59Z - 2026-03-08
  2026-03-08T24:00:00Z - 2026-03-09
  2026-01-14T12:00:00Z Europe/Kiev 2026-01-14
  2026-01-14T12:00:00Z Etc/GMT+5 2026-01-14
  9999-12-31T23:59:59Z America/New_York 9999-12-31
  9999-12-31T23:59:59Z Asia/Shanghai -
  0001-01-01T00:00:00Z America/New_York -
  0001-01-01T00:00:00Z - 0001-01-01
  0001-01-01T00:00:00+15:00 - -
  9999-12-31T23:59:59-01:00 - -`

describe('the local date of an instant', () => {
  // In both seasons, around a change of the clocks, at odd offsets and at the ends of time.
  test.each(LOCAL_DATES.trim().split(/\n\s*/))(
    '%s',
    { tags: ['Z4', 'Z5', 'Z6', 'Z7', 'Z9'] },
    async (row) => {
      const [instant, zone, date] = row.split(' ').map((word) => (word === '-' ? null : word))
      const expected = { date, isZoneKnown: zone !== null }
      expect(await localDate(instant!, zone ?? null)).toEqual(expected)
    },
  )

  test.each([
    'Mars/Olympus',
    'UTC+3',
    '+03:00',
    '',
    ' America/New_York',
    '../../etc/passwd',
    `${'A'.repeat(50_000)}/B`,
  ])('the zone %j is unknown and gives no date, and no error', { tags: ['Z7'] }, async (zone) => {
    expect(await localDate('2026-01-14T18:15:00Z', zone)).toEqual({
      date: null,
      isZoneKnown: false,
    })
  })
})
