import { afterAll, expect, it } from 'vitest'
import { storeRulesFile } from '../../../src/extensions/answers/questions/free-time-rules.js'
import { parseRulesFile } from '../../../src/extensions/answers/questions/rules-file.js'
import type { Hold } from '../../../src/extensions/simulator/plans/container-status.js'
import { countLike, SecondImplementation } from '../../support/second-implementation.js'
import type { Rule, WorkingCalendar } from '../../support/second-rules.js'
import { closeScenes, HOUR, openScene, type Scene } from '../sync/sync-scene.js'
import { rowsOf } from '../../support/tables.js'
import { setAsOf } from '../../support/set-as-of.js'
import { rawStatement } from '../../../src/warehouse/connection/typed-database.js'
import { atScale } from '../../support/test-scale.js'

const SHIPMENTS = atScale(60, 5_000)
const LOOKS = atScale(6, 30)
/** The last look lies in the past of the database, which takes no stamp of a time to come. */
const START = new Date(LOOKS > 10 ? '2026-10-20T08:00:00Z' : '2026-10-30T08:00:00Z')
/** Hours between looks, in turn; less and more than a day. */
const HOURS = LOOKS > 10 ? [24] : [6, 18, 30, 20, 75]

/** Names as much as other rules, and comes after them. */
const NEVER = 'yards'

/**
 * Of equally many scopes the terminal's goes before the line's, that before the place code's, the
 * newer before the older, and the first name before the others. Vancouver has a demurrage in US
 * dollars; the days off of Oakland are those of the place; the hazmat empties name as much as the
 * short empties, and come before them.
 */
const RULES: readonly Rule[] = rowsOf(`
  name                        | charge    | startsWith | counts   | rates               | more
  all lines                   | demurrage | arrival    | calendar | 1:100               | place port, freeDays 5
  Maersk                      | demurrage | discharge  | working  | 1:185 5:310         | place port, line MAEU, freeDays 4, calendar us, validFrom 2026-01-01, reported ignored
  Maersk tank                 | demurrage | discharge  | working  | 2:390               | place port, line MAEU, freeDays 3, calendar us, equipmentType tank
  terminals                   | storage   | discharge  | calendar | 1:95 6:240          | place port
  ramps                       | storage   | arrival    | calendar | 1:150               | place ramp, freeDays 2, reported earlier
  line at ramps               | demurrage | arrival    | working  | 1:55.5              | place ramp, freeDays 3, calendar us
  empties                     | detention | gate_out   | calendar | 1:120 8:200         | freeDays 5
  empties from October        | detention | gate_out   | calendar | 1:125               | freeDays 3, validFrom 2026-10-01
  short empties               | detention | gate_out   | working  | 1:90                | freeDays 4, calendar us, equipmentLength 20, currency CAD
  Los Angeles                 | demurrage | discharge  | calendar | 1:130               | place port, freeDays 2, locode USLAX, validTo 2026-10-28
  Husky in summer             | storage   | discharge  | calendar | 1:41.25 3:0 5:82.5  | place port, terminal Husky, validFrom 2026-06-01, validTo 2026-08-31
  Husky                       | storage   | discharge  | calendar | 1:45                | place port, terminal Y651, charged working
  long ones                   | storage   | discharge  | calendar | 1:60 4:175.5        | place port, freeDays 1, equipmentLength 45, reported later
  Vancouver                   | storage   | discharge  | calendar | 1:70                | place port, locode CAVAN, currency CAD
  Dallas                      | storage   | arrival    | calendar | 1:200               | place ramp, freeDays 1, locode USDAL
  Brampton                    | storage   | arrival    | calendar | 1:210               | place ramp, terminal Brampton, currency CAD
  ZIM until the empty is back | demurrage | arrival    | calendar | 5:80 9:130 15:205.5 | place port, line ZIMU, freeDays 4, firstDay 1, until empty_return, tierCounts start, reported later
  high cubes from the ramp on | demurrage | arrival    | working  | 1:65                | place ramp, freeDays 2, firstDay 1, calendar us, equipmentHeight high_cube, until empty_return
  Hyundai                     | demurrage | arrival    | working  | 1:150 3:260         | place port, line HDMU, freeDays 2, calendar us, charged working
  Oakland                     | storage   | discharge  | working  | 1:50 5:75           | place port, locode USOAK, freeDays 2, charged working, tierCounts start, reported later
  Tamarack                    | storage   | discharge  | calendar | 1:60.5 4:80         | place port, customer Tamarack Outdoor Co., minimum 150, cap 400
  hazmat empties              | detention | gate_out   | calendar | 1:300 4:90 8:700    | freeDays 2, tag hazmat, per 1:period 8:period
  ${NEVER}                    | storage   | arrival    | calendar | 1:999               | equipmentHeight standard
`).map(toRule)

/** `1:100 6:240` as a number or word for each first day. */
function byDay(text: string): Record<string, unknown> {
  return Object.fromEntries(
    text.split(' ').map((said) => {
      const [from = '', value = ''] = said.split(':')
      return [from, valueOf(value)]
    }),
  )
}

function valueOf(text: string): string | number {
  return /^[\d.]+$/.test(text) ? Number(text) : text
}

function toRule({ rates, more, ...row }: Readonly<Record<string, string | null>>): Rule {
  const said = more!.split(', ').map((words) => {
    const [, name = '', value = ''] = /^(\w+) (.*)$/.exec(words)!
    return [name, name === 'per' ? byDay(value) : valueOf(value)]
  })
  return { ...row, rates: byDay(rates!), ...Object.fromEntries(said) } as Rule
}

const CALENDARS: readonly WorkingCalendar[] = [
  { name: 'us', holidays: ['2026-10-12', '2026-11-11', '2026-11-26', '2026-12-25'] },
  // Open on Saturdays.
  { name: 'oakland', place: 'USOAK', weekend: [0], holidays: ['2026-10-28', '2026-11-03'] },
  // Closures of a terminal.
  { name: 'husky', place: 'Husky', holidays: ['2026-10-29', '2026-11-02'] },
]
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

const NAMES = [
  'name charge line terminal locode place equipmentType equipmentLength equipmentHeight freeDays',
  'counts calendar startsWith validFrom validTo reported firstDay charged tierCounts until',
  'customer tag minimum cap',
].flatMap((names) => names.split(' ')) as Exclude<keyof Rule, 'rates' | 'per'>[]

/** The column of the file for what the second implementation calls `equipmentType`. */
function columnOf(name: string): string {
  if (name === 'name') return 'rule'
  if (name === 'calendar') return 'holiday_calendar'
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function csvOfRules(): string {
  const lines = RULES.flatMap((rule) =>
    Object.entries(rule.rates).map(([from, rate]) =>
      [
        ...NAMES.map((name) => rule[name]),
        ...[from, rate, rule.per?.[Number(from)], rule.currency ?? 'USD', ''],
      ].join(','),
    ),
  )
  const header = [...NAMES.map(columnOf), 'from_day', 'daily_rate', 'per', 'currency', 'note']
  return [header.join(','), ...lines].join('\n')
}

function csvOfCalendars(): string {
  const lines = CALENDARS.map(({ name, place, weekend }) =>
    [name, place, weekend?.map((day) => WEEKDAYS[day]).join(' ')].join(','),
  )
  return ['calendar,place,weekend', ...lines].join('\n')
}

function csvOfHolidays(): string {
  const lines = CALENDARS.flatMap(({ name, holidays }) =>
    holidays.map((day) => `${name},${day},Holiday`),
  )
  return ['calendar,holiday_on,name', ...lines].join('\n')
}

const QUESTIONS = {
  stays: `select container_id, place, state, binding_on::text, binding_source, days_left, days_over,
      to_char(start_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as start_at,
      to_char(end_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as end_at, mode,
      time_zone, is_zone_known, today_on::text, out_on::text, is_available,
      array(select hold from unnest(blocking_holds) as hold order by hold collate "C") as blocking_holds
    from tracking_as_of.container_stays`,
  exposure: `select container_id, place, state, days_over,
      fees_by_currency, fee_amount::float8, fee_currency_code, is_total_different, fees_unreadable,
      estimates_by_currency, estimate_amount::float8, estimate_currency_code, days_without_rate
    from tracking_as_of.demurrage_exposure`,
  chargeDays: `select container_id, place, charge, charged_on::text, day_over, rule_name, currency_code,
      charge_amount::float8,
      was_available, holds, is_working_day, last_free_source,
      array(select fee from unnest(fees_seen) as fee order by fee collate "C") as fees_seen, last_free_seen_on::text
    from tracking_as_of.charged_days`,
  exceptions: `select container_id, exception, severity,
      to_char(since_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as since_at,
      cost_amount::float8, currency_code as cost_currency_code
    from tracking_as_of.attention`,
} as const

async function ask(scene: Scene, name: keyof typeof QUESTIONS): Promise<string[]> {
  return scene.warehouse.transaction('ask', async (session) => {
    const asOf = scene.simulator.clock.now().toISOString()
    await setAsOf(session, asOf)
    const rows = await session.query('ask', rawStatement<Record<string, unknown>>(QUESTIONS[name]))
    return rows.map((row) => JSON.stringify(Object.values(row)))
  })
}

/** Lines that one has and the other has not, as often as each other. */
function differences(one: readonly string[], other: readonly string[]): string[] {
  const count = new Map<string, number>()
  for (const line of one) count.set(line, (count.get(line) ?? 0) + 1)
  for (const line of other) count.set(line, (count.get(line) ?? 0) - 1)
  return [...count].flatMap(([line, times]) =>
    times === 0 ? [] : [`${line} only in ${times > 0 ? 'the view' : 'the second'}`],
  )
}

/** Rare changes of records by the service, which an undisturbed world lacks. */
function disturb({ simulator }: Scene, look: number): void {
  const { edits, world, clock } = simulator
  const now = clock.now()
  const shipments = [...world.records('shipment', now)]
  // Those that the service asks the line about; the others are in few answers.
  const asked = new Set(
    shipments.flatMap(({ id, attributes }) =>
      (attributes?.line_tracking_stopped_reason ?? null) === null ? [id] : [],
    ),
  )
  const containers = [...world.records('container', now)].filter(({ relationships }) =>
    asked.has((relationships?.shipment as { data: { id: string } }).data.id),
  )
  const soon = new Date(now.getTime() + 30 * HOUR).toISOString()
  const ago = (hours: number) => new Date(now.getTime() - hours * HOUR).toISOString()
  const day = (days: number) =>
    new Date(now.getTime() + days * 24 * HOUR).toISOString().slice(0, 10)
  const deadlines = (line: string | null, terminal: string | null, rail: string | null) => ({
    pickup_lfd_line: line,
    pickup_lfd_terminal: terminal,
    pickup_lfd_rail: rail,
  })
  const landed = {
    // In the evening of UTC, when it is the next day in Tokyo.
    pod_arrived_at: ago(208),
    pod_discharged_at: ago(206),
    pod_full_out_at: null,
    pod_rail_departed_at: null,
    pod_timezone: 'Asia/Tokyo',
  }
  const standing = {
    ...landed,
    pod_rail_loaded_at: null,
    pod_rail_carrier_scac: null,
    ind_rail_carrier_scac: null,
    ind_eta_at: null,
    ind_ata_at: null,
    ind_rail_unloaded_at: null,
    final_destination_full_out_at: null,
    empty_terminated_at: null,
    current_status: 'not_available',
  }
  const patches: readonly Readonly<Record<string, unknown>>[] = [
    { ...landed, import_deadlines: deadlines(day(-3), day(-5), null) },
    { ...landed, import_deadlines: deadlines(day(1), null, null), pickup_appointment_at: soon },
    {
      ...standing,
      pod_timezone: 'America/Vancouver',
      // Half past midnight by the clock that is not put back in 2026, else the evening before.
      import_deadlines: deadlines(soon, `${day(-3)}T07:30:00Z`, null),
    },
    {
      ...landed,
      pod_timezone: null,
      import_deadlines: deadlines(null, null, null),
      // Before the day of every rule.
      pickup_lfd: ago(220),
    },
    // Announced, not happened.
    { pod_discharged_at: soon, pod_full_out_at: soon, pod_arrived_at: soon },
    {
      ...landed,
      pod_rail_departed_at: ago(60),
      ind_ata_at: ago(40),
      final_destination_full_out_at: null,
      empty_terminated_at: null,
      final_destination_timezone: 'America/Chicago',
      import_deadlines: deadlines(null, day(-4), ago(26)),
    },
    // The railway's day is the earliest, and at the ramp only; a zone that nobody knows.
    {
      ...landed,
      ind_rail_carrier_scac: 'BNSF',
      pod_timezone: 'Mars/Olympus',
      import_deadlines: deadlines(day(3), day(3), day(-6)),
    },
    // A milestone that is corrected, and a pickup nine and a half days ago, or ten and a half.
    ...[228, 252].map((hours) => ({
      ...landed,
      pod_full_out_at: ago(hours),
      final_destination_full_out_at: null,
      empty_terminated_at: null,
      current_status: 'picked_up',
    })),
    // Out as its status alone says, or its empty announced and not back.
    look % 2 === 0
      ? { current_status: 'delivered', pod_full_out_at: null }
      : {
          ...landed,
          pod_full_out_at: ago(190),
          final_destination_full_out_at: null,
          empty_terminated_at: soon,
          current_status: 'empty_returned',
        },
    { availability_known: false, available_for_pickup: true },
    // Without a last free day, also by the rules that begin with the arrival; there for long, or for
    // about as long as usual.
    {
      ...standing,
      pod_arrived_at: null,
      pod_discharged_at: ago([1000, 190, 160, 130, 100, 75][look % 6]!),
      import_deadlines: deadlines(null, null, null),
      pickup_lfd: null,
    },
    // Not on the vessel that brought the others of its shipment.
    {
      ...standing,
      pod_arrived_at: null,
      pod_discharged_at: null,
      import_deadlines: deadlines(null, null, null),
      current_status: 'on_ship',
    },
    // Loaded on the train; departed and silent; at the ramp, which it cannot leave.
    {
      ...standing,
      pod_rail_loaded_at: ago(30),
      import_deadlines: deadlines(null, day(-1), null),
      current_status: 'on_rail',
    },
    { ...standing, pod_rail_departed_at: ago(60), current_status: 'on_rail' },
    {
      ...standing,
      pod_rail_departed_at: ago(80),
      ind_ata_at: ago(60),
      final_destination_timezone: 'America/Chicago',
      import_deadlines: deadlines(null, null, day(-2)),
      availability_known: true,
      available_for_pickup: false,
      current_status: 'available',
    },
  ]
  // Every second container that was held at the previous look is released, and the text of the
  // other holds is edited.
  const held = containers.flatMap(({ id, attributes }) => {
    const holds = (attributes?.holds_at_pod_terminal ?? []) as readonly Hold[]
    return holds.some(({ description }) => description === `look ${look - 1}`)
      ? [{ id, holds }]
      : []
  })
  for (const [nth, { id, holds }] of held.entries()) {
    for (const { name } of holds) edits.clearHold(id, name)
    if (nth % 2 === 0) continue
    for (const hold of holds) {
      edits.addHold(id, { ...hold, description: `${hold.description}, edited` })
    }
  }
  // The same share of the containers in a world of any size.
  for (let first = look * 7; first < look * 7 + containers.length; first += 60) {
    const at = (nth: number) => containers[(first + nth * 5) % containers.length]!.id
    for (const [nth, patch] of patches.entries()) edits.change('container', at(nth), patch)
    // As much is said by an event of it, if it has one; the world has a few of these of its own.
    const event = world.transportEventsOf(at(4), now).at(-1)
    if (event !== undefined) edits.change('transport_event', event.id, { timestamp: soon })
    const fee = (type: string, amount: unknown, currency_code: string | null) => ({
      type,
      amount,
      currency_code,
    })
    edits.change('container', at(15), {
      fees_at_pod_terminal: [fee('exam', 12.5, 'USD')],
      ind_facility_fees: look % 2 === 0 ? [] : [fee('storage', 45, 'USD')],
    })
    const lists = [
      [fee('demurrage', 150 * look + 0.25, 'USD'), fee('total', 400.5, null)],
      [fee('exam', 10.1, 'USD'), fee('other', 20.2, 'CAD'), fee('total', 99, null)],
      [fee('demurrage', 75, null), fee('total', 80, null)],
      [fee('other', 'on request', 'USD'), fee('demurrage', 0.3, 'USD'), fee('total', 0.1, 'USD')],
    ]
    for (const [nth, fees] of lists.entries()) {
      edits.change('container', at([0, 2, 5, 6][nth]!), { fees_at_pod_terminal: fees })
    }
    for (const nth of [0, 1, 5, 9, 11, 15]) {
      const status = nth === 9 ? 'pending' : 'hold'
      edits.addHold(at(nth), { name: `hold ${nth % 2}`, status, description: `look ${look}` })
    }
  }
  const stopped = shipments[(look * 3) % shipments.length]!.id
  const line_tracking_stopped_reason = look % 2 === 0 ? 'cancelled_by_user' : 'booking_cancelled'
  edits.change('shipment', stopped, { line_tracking_stopped_reason })
  for (const [nth, { id, attributes }] of shipments.entries()) {
    if ((attributes?.pod_ata_at ?? null) !== null) continue
    if (nth % 3 === look % 3) edits.change('shipment', id, { pod_vessel_name: `VESSEL ${look}` })
    const imo = [null, '9074729', '9321483'][(nth + (look % 2)) % 3]
    if (nth % 3 === 1) edits.change('shipment', id, { pod_vessel_imo: imo })
    const eta = Date.parse(attributes?.pod_eta_at as string)
    const later = Number.isNaN(eta) ? soon : new Date(eta + (nth - 1) * 13 * HOUR).toISOString()
    if (nth % 2 === look % 2) edits.change('shipment', id, { pod_eta_at: later })
  }
}

let scene: Scene
afterAll(closeScenes)

it(
  'a second implementation over the service’s records says the same, look by look',
  {
    tags: [
      'I19',
      'FE1',
      'FE2',
      'FE3',
      'FE4',
      'FE5',
      'JA1',
      'JA2',
      'JA4',
      'JA6',
      'JA9',
      'JA11',
      'JA12',
      'JA14',
    ],
  },
  async () => {
    scene = await openScene({ shipments: SHIPMENTS, startAt: START })
    const { simulator, warehouse } = scene
    // Zone data of Node.js and PostgreSQL can be of different years: whether Vancouver puts its
    // clocks back in 2026 is in the younger ones only. The server's decide here.
    const [vancouver] = await scene.query<{ hour: number }>(
      `select extract(hour from timestamptz '2026-12-01T12:00Z' at time zone 'America/Vancouver')
        ::integer as hour`,
    )
    countLike('America/Vancouver', vancouver!.hour === 5 ? 'Etc/GMT+7' : 'America/Los_Angeles')
    const files = [csvOfRules(), csvOfCalendars(), csvOfHolidays()]
    await warehouse.transaction('store the rules', async (session) => {
      for (const text of files) await storeRulesFile(session, parseRulesFile('rules.csv', text))
    })
    const second = new SecondImplementation(simulator.world, RULES, CALENDARS)
    const compared = { stays: [], exposure: [], chargeDays: [], exceptions: [] } as Record<
      string,
      string[]
    >
    for (let look = 0; look < LOOKS; look += 1) {
      if (look > 0) simulator.clock.advance(HOURS[look % HOURS.length]! * HOUR)
      disturb(scene, look)
      await scene.sync({ command: look === 0 ? 'backfill' : 'sync', areChecksDue: true })
      second.look(simulator.clock.now())
      for (const name of ['stays', 'exposure', 'chargeDays', 'exceptions'] as const) {
        const ours = second[name]()
        const found = differences(await ask(scene, name), ours)
        expect(
          found.sort().slice(0, 8),
          `${name}, look ${look}, ${found.length} differences`,
        ).toEqual([])
        compared[name]!.push(...ours)
      }
    }
    // Cases that never occurred prove nothing.
    const met = (name: string, cell: number) =>
      [...new Set(compared[name]!.map((line) => (JSON.parse(line) as unknown[])[cell]))].sort()
    expect(met('stays', 2)).toEqual(
      'due_today none not_started out_in_time out_late overdue unknown upcoming'.split(' '),
    )
    expect(met('stays', 4)).toEqual(['line', null, 'rail', 'rule', 'service', 'terminal'])
    expect(met('chargeDays', 2)).toEqual(['demurrage', 'detention', 'storage'])
    const rules = RULES.map(({ name }) => name).filter((name) => name !== NEVER)
    const priced = compared.chargeDays!.flatMap((line) => {
      const [, , , , , rule, , price] = JSON.parse(line) as [...string[], number | null]
      return typeof price === 'number' && price > 0 ? [rule] : []
    })
    expect([...new Set(priced)].sort()).toEqual(rules.sort())
    expect(met('chargeDays', 8)).toEqual([false, null, true])
    const currencies = compared.exposure!.map((line) => {
      const estimates = (JSON.parse(line) as unknown[])[9]
      return Object.keys(estimates ?? {}).join()
    })
    expect(currencies).toEqual(expect.arrayContaining(['', 'CAD,USD', 'USD']))
    expect([...second.met].sort()).toEqual([
      'a day that was withdrawn after it left',
      'cancelled booking',
      'cap reached',
      'corrected discharge',
      'day off without a charge',
      'edited hold text',
      'empty of a merged clock',
      'estimate up to the gate-out',
      'future-dated event',
      'holiday of a place without a charge',
      'least total',
      'merged clock of a ramp',
      'merged clock past its gate-out',
      'period paid already',
      'weekend of a place',
    ])
    // Vancouver puts no clock back in 2026.
    expect(
      compared.stays!.filter((line) => {
        const [, , state, , , , , , , , zone, , today] = JSON.parse(line) as string[]
        return zone === 'America/Vancouver' && state === 'overdue' && today! > '2026-11-01'
      }),
    ).not.toEqual([])
    expect(met('exceptions', 1)).toEqual([
      ...['appointment_late', 'appointment_missed', 'day_unknown', 'empty_not_returned'],
      ...['eta_passed', 'eta_slipped', 'hold_cleared', 'hold_new'],
      ...['last_free_day_near', 'left_behind', 'long_there', 'no_news'],
      ...['overdue', 'rail_silent', 'rolled', 'tracking_stopped'],
    ])
  },
)
