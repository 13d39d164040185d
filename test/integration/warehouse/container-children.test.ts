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

  test('a container without deadlines has no rows', async () => {
    expect(await deadlines({ pod_timezone: LOS_ANGELES })).toEqual([])
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

  test('a bare date is the local date itself in every zone', { tags: ['Z3'] }, async () => {
    const row = flatten(
      container({ pickup_lfd: '2020-05-20', import_deadlines: { pickup_lfd_rail: '2020-05-21' } }),
    )
    const _coercions = row.flat.coercions
    for (const zone of [
      LOS_ANGELES,
      'Pacific/Kiritimati',
      'Pacific/Pago_Pago',
      null,
      'Mars/Olympus',
    ]) {
      const rows = await deadlines({
        _coercions,
        pod_timezone: zone,
        final_destination_timezone: zone,
      })
      expect(
        rows.map(({ kind, deadline_at, local_date }) => [kind, deadline_at, local_date]),
      ).toEqual([
        ['pickup_lfd', null, '2020-05-20'],
        ['pickup_lfd_rail', null, '2020-05-21'],
      ])
    }
  })

  test.each(['2026-02-30', '2026-13-01', '0000-01-01', '2026-00-10', 'soon', '', 5, {}])(
    'what was coerced from %j is no bare date and makes no row',
    async (original) => {
      const coercion = { reason: 'x', original: JSON.stringify(original) }
      const _coercions = JSON.stringify({ pickup_lfd: coercion })
      expect(await deadlines({ _coercions })).toEqual([])
    },
  )
})

describe('deadlines under older names, and more than one day a source', () => {
  const zones = { pod_timezone: LOS_ANGELES, final_destination_timezone: CHICAGO }
  const brief = (rows: Row[]) =>
    rows.map(({ kind, place, time_zone, local_date }) => [kind, place, time_zone, local_date])
  const made = async (attributes: Readonly<Record<string, unknown>>): Promise<Row[]> => {
    const { columns, flat } = flatten(container({ ...zones, ...attributes }))
    const stored = { ...columns, _coercions: flat.coercions } as Stored
    return deadlines(stored)
  }

  test('an older name counts if the newer one is not sent, and does not get a row of its own', async () => {
    const older = { ssl_lfd: '2026-03-10T07:00:00Z', ind_facility_lfd_on: '2026-03-12T05:00:00Z' }
    expect(brief(await made(older))).toEqual([
      ['pickup_lfd_line', 'port', LOS_ANGELES, '2026-03-10'],
      ['pickup_lfd_rail', 'ramp', CHICAGO, '2026-03-12'],
    ])
    const newer = {
      pickup_lfd_line: '2026-03-11T07:00:00Z',
      pickup_lfd_rail: '2026-03-13T05:00:00Z',
    }
    expect(brief(await made({ ...older, import_deadlines: newer }))).toEqual([
      ['pickup_lfd_line', 'port', LOS_ANGELES, '2026-03-11'],
      ['pickup_lfd_rail', 'ramp', CHICAGO, '2026-03-13'],
    ])
  })

  test('an older name, or a newer one beside it, can be a bare date', async () => {
    expect(brief(await made({ ssl_lfd: '2026-03-10', ind_facility_lfd_on: '2026-03-12' }))).toEqual(
      [
        ['pickup_lfd_line', 'port', LOS_ANGELES, '2026-03-10'],
        ['pickup_lfd_rail', 'ramp', CHICAGO, '2026-03-12'],
      ],
    )
    expect(
      brief(
        await made({
          ssl_lfd: '2026-03-10T07:00:00Z',
          import_deadlines: { pickup_lfd_line: '2026-03-11' },
        }),
      ),
    ).toEqual([['pickup_lfd_line', 'port', LOS_ANGELES, '2026-03-11']])
  })

  // Midnight in Chicago is ten in the evening of the day before in Los Angeles.
  const chicago = (day: string) => `${day}T05:00:00Z`
  const atRamp = ['pickup_lfd', 'ramp', CHICAGO, '2026-03-12']
  const atPort = ['pickup_lfd', 'port', LOS_ANGELES, '2026-03-11']
  test.each([
    ['the rail day', { pickup_lfd_rail: chicago('2026-03-12') }, atRamp],
    [
      'the rail day, not the terminal day',
      { pickup_lfd_rail: chicago('2026-03-12'), pickup_lfd_terminal: chicago('2026-03-10') },
      atRamp,
    ],
    [
      'both days',
      { pickup_lfd_rail: chicago('2026-03-12'), pickup_lfd_terminal: chicago('2026-03-12') },
      atPort,
    ],
    [
      'both days, the one of the line',
      { pickup_lfd_rail: chicago('2026-03-12'), pickup_lfd_line: chicago('2026-03-12') },
      atPort,
    ],
    ['no day', { pickup_lfd_rail: chicago('2026-03-13') }, atPort],
  ])(
    'the pick of the service that repeats %s is where that day is',
    { tags: ['JC9'] },
    async (_, import_deadlines, expected) => {
      const rows = await made({ pickup_lfd: chicago('2026-03-12'), import_deadlines })
      expect(brief(rows)[0]).toEqual(expected)
    },
  )

  test('so is one of the older name, a bare date or a unified day', { tags: ['JC9'] }, async () => {
    const older = {
      pickup_lfd: chicago('2026-03-12'),
      ind_facility_lfd_on: '2026-03-12T05:00:00Z',
    }
    expect(brief(await made(older))[0]).toEqual(atRamp)
    const bare = { pickup_lfd: '2026-03-12', import_deadlines: { pickup_lfd_rail: '2026-03-12' } }
    expect(brief(await made(bare))[0]).toEqual(atRamp)
    const day = chicago('2026-03-12')
    const unified = { import_deadlines: { pickup_lfd_rail: day, unified: { value: day } } }
    expect(brief(await made(unified)).at(-1)).toEqual(['unified', 'ramp', CHICAGO, '2026-03-12'])
  })

  test('each day of an object in place of a date is a row, with what was sent beside it', async () => {
    const rows = await made({
      import_deadlines: {
        pickup_lfd_rail: { original: '2026-03-12T05:00:00Z', current: '2026-03-14T05:00:00Z' },
        pickup_lfd_line: {
          original: null,
          current: null,
          calculated: { date: '2026-03-11', free_days: 5, holidays: ['2026-03-09'] },
        },
        unified: { value: '2026-03-11T07:00:00Z', source: 'line' },
      },
    })
    expect(brief(rows)).toEqual([
      ['pickup_lfd_line', 'port', LOS_ANGELES, '2026-03-11'],
      ['pickup_lfd_line.calculated', 'port', LOS_ANGELES, '2026-03-11'],
      ['pickup_lfd_rail', 'ramp', CHICAGO, '2026-03-14'],
      ['pickup_lfd_rail.current', 'ramp', CHICAGO, '2026-03-14'],
      ['pickup_lfd_rail.original', 'ramp', CHICAGO, '2026-03-12'],
      ['unified', 'port', LOS_ANGELES, '2026-03-11'],
    ])
    expect(rows.map(({ details }) => (details === null ? null : parsed(details)))).toEqual([
      null,
      { free_days: 5, holidays: ['2026-03-09'] },
      null,
      null,
      null,
      { source: 'line' },
    ])
  })
})

describe('holds and fees of the inland facility', () => {
  const both = { name: 'customs', status: 'hold', description: 'X-ray' }

  test('stand beside those of the port under keys of their own, with their place', async () => {
    const rows = await children(holdTable, {
      holds_at_pod_terminal: JSON.stringify([both]),
      ind_facility_holds: JSON.stringify([both, both]),
    })
    const key = String(rows[0]?.hold_key)
    expect(rows.map(({ hold_key, place, position }) => [hold_key, place, position])).toEqual([
      [key, 'port', 0],
      [`ramp-${key}`, 'ramp', 0],
      [`ramp-${key}-2`, 'ramp', 1],
    ])
  })

  test('a fee with a text and no type keeps both', async () => {
    const [row] = await children(feeTable, {
      ind_facility_fees: JSON.stringify([{ amount: 75, description: 'Storage' }]),
    })
    expect(row).toMatchObject({
      place: 'ramp',
      type: null,
      amount: '75',
      description: 'Storage',
      _unmapped: null,
      _coercions: null,
    })
  })
})

describe('holds', () => {
  const customs = { name: 'customs', status: 'hold', description: 'X-ray', detail: 'At CES' }
  const other = { name: 'other', status: 'hold', description: 'DOWN - Broken Machine Over Pile' }
  const second = { name: 'other', status: 'hold', description: 'MACHINE - ' }

  test('two of one name and description are told apart by position', async () => {
    const keys = (await holds([other, other, other])).map(({ hold_key }) => hold_key)
    expect(keys).toEqual([keys[0], `${String(keys[0])}-2`, `${String(keys[0])}-3`])
  })

  test('clearing the first does not rename the second, and order does not name anyone', async () => {
    const [, before] = await holds([other, second])
    const [after] = await holds([second])
    expect(after?.hold_key).toBe(before?.hold_key)
    const reversed = (await holds([second, other])).map(({ hold_key }) => hold_key)
    expect(reversed.sort()).toEqual(
      (await holds([other, second])).map(({ hold_key }) => hold_key).sort(),
    )
  })

  test('another status is the same hold; another description is another hold', async () => {
    const [pending] = await holds([{ ...customs, status: 'pending' }])
    const [described] = await holds([{ ...customs, description: 'Released' }])
    const [standing] = await holds([customs])
    expect(pending?.hold_key).toBe(standing?.hold_key)
    expect(described?.hold_key).not.toBe(standing?.hold_key)
  })

  test('an absent and a null description are the same hold', async () => {
    const [absent] = await holds([{ name: 'customs', status: 'hold' }])
    const [nothing] = await holds([{ name: 'customs', status: 'hold', description: null }])
    expect(absent).toEqual(nothing)
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

  test('an element that is not an object gets its own row, with the element kept', async () => {
    const rows = await holds(['customs', null, ['x']])
    expect(rows.map(({ _unmapped }) => parsed(_unmapped))).toEqual([
      { element: 'customs' },
      { element: null },
      { element: ['x'] },
    ])
  })

  test.each([[null], [{}], ['customs'], [5]])('a list that is %j makes no rows', async (list) => {
    expect(await holds(list)).toEqual([])
  })

  test('1,000 holds, one twice among them, are 1,000 rows', { tags: ['N6'] }, async () => {
    const list = Array.from({ length: 999 }, (_, index) => ({
      name: `hold ${index}`,
      status: 'hold',
    }))
    const rows = await holds([...list, list[0]])
    expect(rows.map(({ name }) => name)).toEqual([...list.map(({ name }) => name), 'hold 0'])
    expect(new Set(rows.map(({ hold_key }) => hold_key)).size).toBe(1000)
    expect(rows.map(({ position }) => position)).toEqual(rows.map((_, index) => index))
  })
})

describe('fees', () => {
  test.each([
    ['0', '0'],
    ['-12.5', '-12.5'],
    ['1.005', '1.005'],
    ['1e-7', '0.0000001'],
    ['" 12 "', '12'],
    ['"1e1000"', `1${'0'.repeat(1000)}`],
    ['9007199254740993', '9007199254740993'],
    ['"850.00"', '850.00'],
    ['null', null],
  ])('an amount of %s is stored as %s', { tags: ['N4'] }, async (json, amount) => {
    const [row] = await fees(`[{"type":"exam","amount":${json}}]`)
    expect(row).toMatchObject({ amount, currency_code: null, _coercions: null })
  })

  test.each(['usd', 'US$', 'XXX', ''])(
    'the currency %j is stored as sent',
    { tags: ['N4'] },
    async (currency) => {
      const [row] = await fees(
        JSON.stringify([{ type: 'exam', amount: 1, currency_code: currency }]),
      )
      expect(row?.currency_code).toBe(currency)
    },
  )

  test('fees of one type in two currencies are two fees', { tags: ['N4'] }, async () => {
    const rows = await fees(
      '[{"type":"exam","amount":1,"currency_code":"USD"},{"type":"exam","amount":1,"currency_code":"CAD"}]',
    )
    expect(new Set(rows.map(({ fee_key }) => fee_key)).size).toBe(2)
  })

  test.each([
    ['"44,000"', '"44,000"'],
    ['"NaN"', '"NaN"'],
    ['"1e1001"', '"1e1001"'],
    ['"1e-20000"', '"1e-20000"'],
    ['"٣"', '"٣"'],
    ['true', 'true'],
    ['{"a": 1}', '{"a": 1}'],
  ])('an amount of %s becomes null with its original', { tags: ['N3'] }, async (json, original) => {
    const [row] = await fees(`[{"type":"exam","amount":${json}}]`)
    expect(row?.amount).toBeNull()
    const coercions = parsed(row?._coercions) as Readonly<Record<string, unknown>>
    expect(coercions.amount).toMatchObject({ original })
  })

  test('a total is marked, because it overlaps the others', async () => {
    const rows = await fees('[{"type":"demurrage","amount":1},{"type":"total","amount":1}]')
    expect(rows.map(({ is_total }) => is_total)).toEqual([false, true])
  })

  test('a grown amount is the same fee', async () => {
    const [before] = await fees('[{"type":"demurrage","amount":1,"currency_code":"USD"}]')
    const [after] = await fees('[{"type":"demurrage","amount":2,"currency_code":"USD"}]')
    expect(after?.fee_key).toBe(before?.fee_key)
  })

  test('1,000 fees of one type are 1,000 rows', { tags: ['N6'] }, async () => {
    const rows = await fees(
      JSON.stringify(Array.from({ length: 1000 }, (_, index) => ({ type: 'exam', amount: index }))),
    )
    expect(rows.map(({ amount }) => amount)).toEqual(rows.map((_, index) => String(index)))
    expect(new Set(rows.map(({ fee_key }) => fee_key)).size).toBe(1000)
  })
})

/** Instant, zone and the date there; `-` for no zone, or no date. */
const LOCAL_DATES = {
  'midnight and a second before, in both seasons': `
    2022-01-21T08:00:00Z America/Los_Angeles 2022-01-21
    2022-01-21T07:59:59Z America/Los_Angeles 2022-01-20
    2022-07-21T07:00:00Z America/Los_Angeles 2022-07-21
    2022-07-21T06:59:59Z America/Los_Angeles 2022-07-20`,
  'the gap and the fold of a change of the clocks': `
    2026-03-08T09:59:59Z America/Los_Angeles 2026-03-08
    2026-03-08T10:00:00Z America/Los_Angeles 2026-03-08
    2026-11-01T08:30:00Z America/Los_Angeles 2026-11-01
    2026-11-01T09:30:00Z America/Los_Angeles 2026-11-01
    2026-11-02T08:00:00Z America/Los_Angeles 2026-11-02`,
  'half an hour of summer time, and odd offsets': `
    2026-01-14T13:00:00Z Australia/Sydney 2026-01-15
    2026-07-14T13:59:59Z Australia/Sydney 2026-07-14
    2026-01-14T13:00:00Z Australia/Lord_Howe 2026-01-15
    2026-07-14T13:29:59Z Australia/Lord_Howe 2026-07-14
    2026-01-14T18:15:00Z Asia/Kathmandu 2026-01-15
    2026-01-14T18:14:59Z Asia/Kathmandu 2026-01-14`,
  'wall time already where there is no zone': `
    2026-03-08T23:59:59Z - 2026-03-08
    2026-03-08T00:00:00Z - 2026-03-08
    2026-03-08T24:00:00Z - 2026-03-09`,
  'old and new names of zones': `
    2026-01-14T12:00:00Z Europe/Kiev 2026-01-14
    2026-01-14T12:00:00Z Europe/Kyiv 2026-01-14
    2026-01-14T12:00:00Z Asia/Calcutta 2026-01-14
    2026-01-14T12:00:00Z EST 2026-01-14
    2026-01-14T12:00:00Z Etc/UTC 2026-01-14
    2026-01-14T12:00:00Z Etc/GMT+5 2026-01-14
    2026-01-14T12:00:00Z America/Port-au-Prince 2026-01-14
    2026-01-14T12:00:00Z America/Argentina/Buenos_Aires 2026-01-14`,
  'placeholders: four digits, or none': `
    9999-12-31T23:59:59Z America/New_York 9999-12-31
    9999-12-31T23:59:59Z Asia/Shanghai -
    0001-01-01T00:00:00Z America/New_York -
    0001-01-01T00:00:00Z - 0001-01-01
    0001-01-01T00:00:00+15:00 - -
    9999-12-31T23:59:59-01:00 - -`,
}

describe('the local date of an instant', () => {
  test.each(Object.entries(LOCAL_DATES))(
    '%s',
    { tags: ['Z4', 'Z5', 'Z6', 'Z7', 'Z9'] },
    async (_what, text) => {
      const rows = text.trim().split(/\n\s*/)
      expect(rows.length).toBeGreaterThan(2)
      for (const row of rows) {
        const [instant = '', zone, date] = row
          .split(' ')
          .map((word) => (word === '-' ? null : word))
        const found = await localDate(instant!, zone ?? null)
        expect({ row, ...found }).toEqual({ row, date, isZoneKnown: zone !== null })
      }
    },
  )

  test.each([
    'Mars/Olympus',
    'UTC+3',
    'GMT-03:00',
    '+03:00',
    '03:00',
    '',
    ' America/New_York',
    'America/New_York\uFFFD',
    '../../etc/passwd',
    `${'A'.repeat(50_000)}/B`,
    `a${'-'.repeat(20)}!`,
    `a${'/a'.repeat(10)}!`,
  ])('the zone %j is unknown and gives no date, and no error', { tags: ['Z7'] }, async (zone) => {
    expect(await localDate('2026-01-14T18:15:00Z', zone)).toEqual({
      date: null,
      isZoneKnown: false,
    })
  })
})
