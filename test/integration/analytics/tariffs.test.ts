import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { importRules } from '../../support/scenes/charges.js'

type Day = string | null

/** A place and the days on which a container did something there, by name. */
type Stop<Name extends string> = Readonly<Record<Name, Day>> &
  Readonly<Record<'locode' | 'time_zone', string>>

/** A clock at the end of a day, counted by hand; without a place for a charge outside. */
interface Clock {
  readonly place: string | null
  readonly charge: string
  readonly amount: string | null
}

/** A container, all of whose milestones are at noon, and the evenings on which it is looked at. */
interface Box extends Stop<
  'departed_on' | 'arrived_on' | 'berthed_on' | 'discharged_on' | 'available_on' | 'gate_out_on'
> {
  readonly id: string
  readonly line: string
  readonly terminal: string | null
  readonly returned_on: Day
  readonly terminal_day: Day
  readonly line_day: Day
  readonly rail_day: Day
  readonly ramp: Stop<'departed_on' | 'reached_on' | 'available_on' | 'out_on'> | null
  readonly looks: readonly { readonly on: string; readonly clocks: readonly Clock[] }[]
  /** The columns of the tables have the names of the file. */
  readonly [name: string]: unknown
}

const RULES = new URL('../../../config/rules/', import.meta.url)
const COUNTED = new URL('../../fixtures/tariffs/', import.meta.url)
const TARIFFS = readdirSync(COUNTED).map((file) => file.replace('.json', ''))

/** A merged clock that goes on by rail, and a closure; the others are second proofs of the same. */
const QUICK = ['antwerp-merged-tiers', 'los-angeles-working-days']

const scene = useAnalyticsScene()

/** The instant of a wall time in a zone. */
function instant(day: Day = null, zone = 'UTC', hour = 12): string | null {
  if (day === null) return null
  const wall = Date.parse(`${day}T${String(hour)}:00:00Z`)
  const shown = new Date(wall).toLocaleString('sv-SE', { timeZone: zone })
  return new Date(2 * wall - Date.parse(`${shown.replace(' ', 'T')}Z`)).toISOString()
}

async function insertBox(box: Box): Promise<void> {
  const { id, line, terminal, locode, time_zone: zone, ramp } = box
  const names = (...columns: readonly string[]) =>
    Object.fromEntries(columns.map((name) => [name, box[name]]))
  const shipment = {
    ...{ shipment_id: id, shipping_line_scac: line, pol_timezone: 'UTC' },
    ...{ port_of_discharge_locode: locode, destination_locode: ramp?.locode ?? null },
    ...{ pol_atd_at: instant(box.departed_on), customer_name: box.customer },
    ...names('tags', 'ref_numbers'),
  }
  await scene.insertKnown('shipments', [shipment])
  const container = {
    ...{ container_id: id, number: id, shipment_id: id, pod_terminal_id: terminal },
    ...names('equipment_type', 'equipment_length', 'equipment_height'),
    ...{ pod_timezone: zone, empty_terminated_timezone: zone },
    pod_arrived_at: instant(box.arrived_on, zone),
    pod_discharged_at: instant(box.discharged_on, zone),
    pod_full_out_at: instant(box.gate_out_on, zone),
    empty_terminated_at: instant(box.returned_on, zone),
    final_destination_timezone: ramp?.time_zone ?? null,
    pod_rail_departed_at: instant(ramp?.departed_on, zone),
    ind_ata_at: instant(ramp?.reached_on, ramp?.time_zone),
    final_destination_full_out_at: instant(ramp?.out_on, ramp?.time_zone),
  }
  await scene.insertKnown('containers', [container])
  const deadlines = [
    ['terminal', box.terminal_day, zone],
    ['line', box.line_day, zone],
    ['rail', box.rail_day, ramp?.time_zone],
  ] as const
  await scene.insertKnown(
    'container_import_deadlines',
    deadlines.flatMap(([whose, local_date, time_zone]) => {
      const deadline_at = instant(local_date, time_zone)
      const day = { kind: `pickup_lfd_${whose}`, local_date, deadline_at, time_zone }
      return local_date === null ? [] : [{ container_id: id, ...day }]
    }),
  )
  const events = [
    ['vessel_berthed', box.berthed_on, zone],
    ['available', box.available_on, zone],
    ['available', ramp?.available_on ?? null, ramp?.time_zone],
  ] as const
  await scene.insert(
    'transport_events',
    events.flatMap(([name, day, timezone], at) => {
      const key = { container_id: id, transport_event_id: `${id} ${String(at)}` }
      const event = { event: `container.transport.${name}`, timestamp: instant(day, timezone) }
      return day === null ? [] : [{ ...key, ...event, timezone, is_estimated: false }]
    }),
  )
}

const COLUMNS = 'container_id place charge rule_name state last_free_on days_over amount'

/** Every clock of the boxes in a zone in the evening of a day, in the words of the fixtures. */
async function readClocks(on: string, zone: string) {
  const columns = [...COLUMNS.split(' '), 'currency_code']
  const rows = await scene.read('charge_clocks', { asOf: instant(on, zone, 20) ?? '', columns })
  return rows.map(({ container_id, rule_name, currency_code, place, ...rest }) => ({
    ...{ id: container_id, place: place === 'out' ? null : place, ...rest },
    ...{ rule: rule_name, currency: currency_code },
  }))
}

const inOrder = (clocks: readonly object[]) =>
  clocks.map((one) => JSON.stringify(one, Object.keys(one).toSorted())).toSorted()

async function expectCounted(name: string): Promise<void> {
  const text = readFileSync(new URL(`${name}.json`, COUNTED), 'utf8')
  const { boxes } = JSON.parse(text) as { readonly boxes: readonly Box[] }
  for (const file of ['calendars', 'holidays', name]) {
    await importRules(scene, readFileSync(new URL(`${file}.csv`, RULES), 'utf8'))
  }
  const terminals = new Set(boxes.flatMap(({ terminal }) => terminal ?? []))
  const named = [...terminals].map((name) => ({ terminal_id: name, name, nickname: name }))
  await scene.insert('terminals', named)
  for (const box of boxes) await insertBox(box)
  const all = boxes.flatMap((box) => box.looks.map((look) => ({ ...box, ...look })))
  /** Of the look before: no clock costs less as days pass. */
  const costs = new Map<string, number>()
  for (const { id, on, time_zone, clocks } of all.sort((a, b) => a.on.localeCompare(b.on))) {
    const shown = (await readClocks(on, time_zone)).filter((one) => one.id === id)
    const counted = clocks.map((clock) => ({ id, ...clock }))
    expect(inOrder(shown), `${id} on ${on}`).toEqual(inOrder(counted))
    for (const { charge, place, amount } of clocks) {
      const clock = [id, charge, place].join()
      expect(Number(amount), `${clock} on ${on}`).toBeGreaterThanOrEqual(costs.get(clock) ?? 0)
      costs.set(clock, Number(amount))
    }
  }
  expect(all.flatMap(({ clocks }) => clocks).length).toBeGreaterThan(0)
}

it.each(QUICK)('%s costs what was counted by hand', { tags: ['JA15', 'I20'] }, expectCounted)

it.each(TARIFFS.filter((name) => !QUICK.includes(name)))(
  '%s costs what was counted by hand',
  { tags: ['JA15', 'release'] },
  expectCounted,
)

it('twenty tariffs are counted', () => {
  expect(TARIFFS).toHaveLength(20)
})
