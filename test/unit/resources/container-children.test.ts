import { describe, expect, test } from 'vitest'
import { parseExactJson } from '../../../src/jsonapi/exact-json.js'
import type { EncodedValue } from '../../../src/resources/column.js'
import {
  containerChildren,
  flattenContainerChildren,
  type StoredContainer,
} from '../../../src/resources/container-children.js'
import { container, flatten, type JsonObject } from './flat-rows.js'

type Row = Readonly<Record<string, EncodedValue | undefined>>

const empty: StoredContainer = {
  container_id: 'c-1',
  pickup_lfd: null,
  pickup_lfd_terminal: null,
  pickup_lfd_rail: null,
  pickup_lfd_line: null,
  pod_timezone: null,
  final_destination_timezone: null,
  holds_at_pod_terminal: null,
  fees_at_pod_terminal: null,
  coercions: null,
}

function children(table: string, stored: Partial<StoredContainer>): Row[] {
  return flattenContainerChildren({ ...empty, ...stored })
    .filter((row) => row.table.table === table)
    .map(({ table: { columns }, values }) =>
      Object.fromEntries(columns.map(({ name }, index) => [name, values[index]])),
    )
}

const deadlines = (stored: Partial<StoredContainer>): Row[] =>
  children('container_import_deadlines', stored)
const holds = (list: unknown): Row[] => children('container_holds', { holds_at_pod_terminal: list })
const fees = (json: string): Row[] =>
  children('container_fees', { fees_at_pod_terminal: parseExactJson(json) })

const LOS_ANGELES = 'America/Los_Angeles'
const CHICAGO = 'America/Chicago'

describe('import deadlines', () => {
  const winter = '2022-01-21T08:00:00Z'

  test('a container without deadlines has no rows', () => {
    expect(flattenContainerChildren(empty)).toEqual([])
  })

  test.each([
    ['2022-01-21T08:00:00Z', '2022-01-21'],
    ['2022-07-21T07:00:00Z', '2022-07-21'],
  ])('Z4: a last free day at local midnight (%s) is that day, in both seasons', (instant, date) => {
    expect(deadlines({ pickup_lfd_terminal: instant, pod_timezone: LOS_ANGELES })).toEqual([
      {
        container_id: 'c-1',
        kind: 'pickup_lfd_terminal',
        deadline_at: instant,
        time_zone: LOS_ANGELES,
        local_date: date,
        is_zone_known: 'true',
      },
    ])
  })

  test.each([
    ['pickup_lfd_terminal', LOS_ANGELES, CHICAGO, LOS_ANGELES],
    ['pickup_lfd_terminal', null, CHICAGO, null],
    ['pickup_lfd_rail', LOS_ANGELES, CHICAGO, CHICAGO],
    ['pickup_lfd_rail', LOS_ANGELES, null, null],
    ['pickup_lfd_line', LOS_ANGELES, CHICAGO, CHICAGO],
    ['pickup_lfd_line', LOS_ANGELES, null, LOS_ANGELES],
    ['pickup_lfd', LOS_ANGELES, CHICAGO, CHICAGO],
    ['pickup_lfd', LOS_ANGELES, null, LOS_ANGELES],
  ] as const)('%s, with %s at the port and %s inland, applies in %s', (kind, pod, final, zone) => {
    const stored = { [kind]: winter, pod_timezone: pod, final_destination_timezone: final }
    expect(deadlines(stored).map(({ time_zone }) => time_zone)).toEqual([zone])
  })

  test("pickup_lfd follows the terminal's zone when it repeats the terminal's deadline, and else the line's", () => {
    const zones = { pod_timezone: LOS_ANGELES, final_destination_timezone: CHICAGO }
    const zoneOf = (stored: Partial<StoredContainer>) =>
      deadlines({ ...zones, ...stored }).find(({ kind }) => kind === 'pickup_lfd')?.time_zone
    const later = '2022-01-25T08:00:00Z'
    expect(zoneOf({ pickup_lfd: winter, pickup_lfd_terminal: winter })).toBe(LOS_ANGELES)
    expect(
      zoneOf({ pickup_lfd: winter, pickup_lfd_terminal: winter, pickup_lfd_line: later }),
    ).toBe(LOS_ANGELES)
    expect(zoneOf({ pickup_lfd: later, pickup_lfd_terminal: winter, pickup_lfd_line: later })).toBe(
      CHICAGO,
    )
    expect(
      zoneOf({ pickup_lfd: winter, pickup_lfd_terminal: winter, pickup_lfd_line: winter }),
    ).toBe(CHICAGO)
  })

  test('Z5: without a zone the day is taken as it stands, and the zone is said to be unknown', () => {
    const [row] = deadlines({ pickup_lfd_terminal: '2026-03-08T00:00:00Z' })
    expect(row).toMatchObject({
      time_zone: null,
      local_date: '2026-03-08',
      is_zone_known: 'false',
    })
  })

  test.each(['Mars/Olympus', 'UTC+3', ''])(
    'Z7: with the zone %j the deadline stands and has no local date',
    (zone) => {
      const [row] = deadlines({ pickup_lfd_terminal: winter, pod_timezone: zone })
      expect(row).toMatchObject({
        deadline_at: winter,
        time_zone: zone,
        local_date: null,
        is_zone_known: 'false',
      })
    },
  )

  test('Z3: a bare date is the local date itself, whatever the zone', () => {
    const row = flatten(
      container({ pickup_lfd: '2020-05-20', import_deadlines: { pickup_lfd_rail: '2020-05-21' } }),
    )
    const coercions = parseExactJson(row.flat.coercions ?? '')
    for (const zone of [
      LOS_ANGELES,
      'Pacific/Kiritimati',
      'Pacific/Pago_Pago',
      null,
      'Mars/Olympus',
    ]) {
      const rows = deadlines({ coercions, pod_timezone: zone, final_destination_timezone: zone })
      expect(
        rows.map(({ kind, deadline_at, local_date }) => [kind, deadline_at, local_date]),
      ).toEqual([
        ['pickup_lfd', null, '2020-05-20'],
        ['pickup_lfd_rail', null, '2020-05-21'],
      ])
    }
  })

  test.each(['2026-02-30', 'soon', '', 5, {}])(
    'what was coerced from %j is no bare date and makes no row',
    (original) => {
      const coercions = { pickup_lfd: { reason: 'x', original: JSON.stringify(original) } }
      expect(deadlines({ coercions })).toEqual([])
    },
  )
})

describe('holds', () => {
  const customs = { name: 'customs', status: 'hold', description: 'X-ray' }
  const other = { name: 'other', status: 'hold', description: 'DOWN - Broken Machine Over Pile' }
  const second = { name: 'other', status: 'hold', description: 'MACHINE - ' }

  test('a full hold fills every column', () => {
    const [row] = holds([customs])
    expect(row).toEqual({
      container_id: 'c-1',
      hold_key: row?.hold_key,
      ...customs,
      position: '0',
      _unmapped: null,
      _coercions: null,
    })
    expect(row?.hold_key).toMatch(/^[\w-]{16}$/)
  })

  test('two of one name are told apart by description', () => {
    const [one, two] = holds([other, second])
    expect(one?.hold_key).not.toBe(two?.hold_key)
  })

  test('two of one name and description are told apart by position', () => {
    const keys = holds([other, other, other]).map(({ hold_key }) => hold_key)
    expect(keys).toEqual([keys[0], `${String(keys[0])}-2`, `${String(keys[0])}-3`])
  })

  test('clearing the first does not rename the second, and order does not name anyone', () => {
    const [, before] = holds([other, second])
    const [after] = holds([second])
    expect(after?.hold_key).toBe(before?.hold_key)
    const reversed = holds([second, other]).map(({ hold_key }) => hold_key)
    expect(reversed.sort()).toEqual(
      holds([other, second])
        .map(({ hold_key }) => hold_key)
        .sort(),
    )
  })

  test('another status is the same hold; another description is another hold', () => {
    const [pending] = holds([{ ...customs, status: 'pending' }])
    const [described] = holds([{ ...customs, description: 'Released' }])
    const [standing] = holds([customs])
    expect(pending?.hold_key).toBe(standing?.hold_key)
    expect(described?.hold_key).not.toBe(standing?.hold_key)
  })

  test('an absent and a null description are the same hold', () => {
    const [absent] = holds([{ name: 'customs', status: 'hold' }])
    const [nothing] = holds([{ name: 'customs', status: 'hold', description: null }])
    expect(absent).toEqual(nothing)
  })

  test('what a hold says beyond the interface, and what is no text, is kept beside it', () => {
    const [row] = holds([{ name: { odd: 1 }, status: 'hold', source: 'terminal', position: 9 }])
    expect(row).toMatchObject({
      name: null,
      position: '0',
      _unmapped: '{"source":"terminal","position":9}',
      _coercions: '{"name":{"reason":"not a text","original":"{\\"odd\\":1}"}}',
    })
  })

  test('an element that is no object is a row of its own, with the element kept', () => {
    expect(holds(['customs', null, ['x']]).map(({ _unmapped }) => _unmapped)).toEqual([
      '{"element":"customs"}',
      '{"element":null}',
      '{"element":["x"]}',
    ])
  })

  test.each([[null], [{}], ['customs'], [5]])('a list that is %j makes no rows', (list) => {
    expect(holds(list)).toEqual([])
  })

  test('N6: 1,000 holds, the same one twice among them, are 1,000 rows with 1,000 keys', () => {
    const list = Array.from({ length: 999 }, (_, index) => ({
      name: `hold ${index}`,
      status: 'hold',
    }))
    const rows = holds([...list, list[0]])
    expect(rows.map(({ name }) => name)).toEqual([...list.map(({ name }) => name), 'hold 0'])
    expect(new Set(rows.map(({ hold_key }) => hold_key)).size).toBe(1000)
    expect(rows.map(({ position }) => position)).toEqual(rows.map((_, index) => String(index)))
  })
})

describe('fees', () => {
  test('a full fee fills every column', () => {
    const [row] = fees('[{"type":"demurrage","amount":850.50,"currency_code":"USD"}]')
    expect(row).toEqual({
      container_id: 'c-1',
      fee_key: row?.fee_key,
      type: 'demurrage',
      amount: '850.5',
      currency_code: 'USD',
      is_total: 'false',
      position: '0',
      _unmapped: null,
      _coercions: null,
    })
  })

  test.each([
    ['0', '0'],
    ['-12.5', '-12.5'],
    ['1.005', '1.005'],
    ['1e-7', '1e-7'],
    ['9007199254740993', '9007199254740993'],
    ['"850.00"', '850.00'],
    ['null', null],
  ])('N4: an amount of %s is stored as %s', (json, amount) => {
    const [row] = fees(`[{"type":"exam","amount":${json}}]`)
    expect(row).toMatchObject({ amount, currency_code: null, _coercions: null })
  })

  test.each(['usd', 'US$', 'XXX', ''])('N4: the currency %j is stored as sent', (currency) => {
    const [row] = fees(JSON.stringify([{ type: 'exam', amount: 1, currency_code: currency }]))
    expect(row?.currency_code).toBe(currency)
  })

  test('N4: fees of one type in two currencies are two fees', () => {
    const rows = fees(
      '[{"type":"exam","amount":1,"currency_code":"USD"},{"type":"exam","amount":1,"currency_code":"CAD"}]',
    )
    expect(new Set(rows.map(({ fee_key }) => fee_key)).size).toBe(2)
  })

  test.each([
    ['"44,000"', '"44,000"'],
    ['"NaN"', '"NaN"'],
    ['1e200000', '1e200000'],
  ])('N3: an amount of %s becomes null with its original', (json, original) => {
    const [row] = fees(`[{"type":"exam","amount":${json}}]`)
    expect(row?.amount).toBeNull()
    const coercions = JSON.parse(row?._coercions ?? '{}') as JsonObject
    expect(coercions.amount).toMatchObject({ original })
  })

  test('a total is marked, because it overlaps the others', () => {
    const rows = fees('[{"type":"demurrage","amount":1},{"type":"total","amount":1}]')
    expect(rows.map(({ is_total }) => is_total)).toEqual(['false', 'true'])
  })

  test('a grown amount is the same fee', () => {
    const [before] = fees('[{"type":"demurrage","amount":1,"currency_code":"USD"}]')
    const [after] = fees('[{"type":"demurrage","amount":2,"currency_code":"USD"}]')
    expect(after?.fee_key).toBe(before?.fee_key)
  })

  test('N6: 1,000 fees of one type are 1,000 rows', () => {
    const rows = fees(
      JSON.stringify(Array.from({ length: 1000 }, (_, index) => ({ type: 'exam', amount: index }))),
    )
    expect(rows.map(({ amount }) => amount)).toEqual(rows.map((_, index) => String(index)))
    expect(new Set(rows.map(({ fee_key }) => fee_key)).size).toBe(1000)
  })
})

test('every child row has a value for each column of its table, its key first', () => {
  for (const { columns, keyColumn } of containerChildren) {
    expect(columns.slice(0, 2).map(({ name }) => name)).toEqual(['container_id', keyColumn])
  }
  const rows = flattenContainerChildren({
    ...empty,
    pickup_lfd: '2022-01-21T08:00:00Z',
    holds_at_pod_terminal: [{}],
    fees_at_pod_terminal: [{}],
  })
  expect(rows.map(({ table }) => table)).toEqual(containerChildren)
  for (const { table, values } of rows) {
    expect(values).toHaveLength(table.columns.length)
    expect(values).not.toContain(undefined)
  }
})
