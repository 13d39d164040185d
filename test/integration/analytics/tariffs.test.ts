import { readdirSync, readFileSync } from 'node:fs'
import { beforeAll, expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { insertKnown } from '../../support/insert-known.js'
import { importRules } from '../../support/scenes/charges.js'

/** A clock at the end of a day, counted by hand. */
interface Clock {
  /** Null for a charge outside. */
  readonly place: string | null
  readonly charge: string
  readonly rule: string | null
  readonly state: string
  readonly last_free_on: string | null
  readonly days_over: number | null
  readonly amount: string | null
  readonly currency: string | null
}

type Day = string | null

type Texts<Name extends string> = Readonly<Record<Name, string>>
type Days<Name extends string> = Readonly<Record<Name, Day>>
type Journey = 'departed_on' | 'arrived_on' | 'berthed_on' | 'discharged_on' | 'available_on'

/** A container, all of whose milestones are at noon, and the evenings on which it is looked at. */
interface Box
  extends
    Texts<'id' | 'line' | 'locode' | 'time_zone' | 'equipment_type' | 'equipment_height'>,
    Days<Journey | 'gate_out_on' | 'returned_on' | 'terminal_day' | 'line_day' | 'rail_day'> {
  readonly terminal: string | null
  readonly equipment_length: number
  readonly customer: string | null
  readonly tags: readonly string[]
  readonly ref_numbers: readonly string[]
  readonly ramp:
    | (Texts<'locode' | 'time_zone'> &
        Days<'departed_on' | 'reached_on' | 'available_on' | 'out_on'>)
    | null
  readonly looks: readonly { readonly on: string; readonly clocks: readonly Clock[] }[]
}

interface Tariff {
  readonly by_hand: readonly string[]
  readonly boxes: readonly Box[]
}

const RULES = new URL('../../../config/rules/', import.meta.url)
const COUNTED = new URL('../../fixtures/tariffs/', import.meta.url)
const TARIFFS = readdirSync(COUNTED).map((file) => file.replace('.json', ''))

/** A merged clock that goes on by rail, and a closure; the others are second proofs of the same. */
const QUICK = ['antwerp-merged-tiers', 'los-angeles-working-days']

const scene = useAnalyticsScene()

function importFile(name: string): Promise<void> {
  return importRules(scene, readFileSync(new URL(`${name}.csv`, RULES), 'utf8'))
}

/** The instant of a wall time in a zone. */
function instant(day: Day, zone: string, hour = 12): string | null {
  if (day === null) return null
  const wall = Date.parse(`${day}T${String(hour)}:00:00Z`)
  const shown = new Date(wall).toLocaleString('sv-SE', { timeZone: zone })
  return new Date(2 * wall - Date.parse(`${shown.replace(' ', 'T')}Z`)).toISOString()
}

async function insertBoxes(boxes: readonly Box[]): Promise<void> {
  const terminals = new Set(boxes.flatMap(({ terminal }) => (terminal === null ? [] : [terminal])))
  await scene.insert(
    'terminals',
    [...terminals].map((name) => ({ terminal_id: name, name, nickname: name })),
  )
  await insertKnown(
    scene,
    'shipments',
    boxes.map((box) => ({
      shipment_id: box.id,
      shipping_line_scac: box.line,
      customer_name: box.customer,
      tags: box.tags,
      ref_numbers: box.ref_numbers,
      port_of_discharge_locode: box.locode,
      destination_locode: box.ramp?.locode ?? null,
      pol_atd_at: instant(box.departed_on, 'UTC'),
      pol_timezone: 'UTC',
    })),
  )
  await insertKnown(
    scene,
    'containers',
    boxes.map((box) => ({
      container_id: box.id,
      number: box.id,
      shipment_id: box.id,
      pod_terminal_id: box.terminal,
      equipment_type: box.equipment_type,
      equipment_length: box.equipment_length,
      equipment_height: box.equipment_height,
      pod_timezone: box.time_zone,
      pod_arrived_at: instant(box.arrived_on, box.time_zone),
      pod_discharged_at: instant(box.discharged_on, box.time_zone),
      pod_full_out_at: instant(box.gate_out_on, box.time_zone),
      empty_terminated_at: instant(box.returned_on, box.time_zone),
      empty_terminated_timezone: box.time_zone,
      final_destination_timezone: box.ramp?.time_zone ?? null,
      pod_rail_departed_at: instant(box.ramp?.departed_on ?? null, box.time_zone),
      ind_ata_at: instant(box.ramp?.reached_on ?? null, box.ramp?.time_zone ?? 'UTC'),
      final_destination_full_out_at: instant(
        box.ramp?.out_on ?? null,
        box.ramp?.time_zone ?? 'UTC',
      ),
    })),
  )
  const ofDays = <Row>(days: readonly (readonly [day: Day, row: Row])[]): Row[] =>
    days.flatMap(([day, row]) => (day === null ? [] : [row]))
  const deadline = (box: Box, kind: string, day: Day, zone = box.time_zone) => {
    const deadline_at = instant(day, zone)
    return [
      day,
      { container_id: box.id, kind, local_date: day, deadline_at, time_zone: zone },
    ] as const
  }
  await insertKnown(
    scene,
    'container_import_deadlines',
    ofDays(
      boxes.flatMap((box) => [
        deadline(box, 'pickup_lfd_terminal', box.terminal_day),
        deadline(box, 'pickup_lfd_line', box.line_day),
        deadline(box, 'pickup_lfd_rail', box.rail_day, box.ramp?.time_zone),
      ]),
    ),
  )
  const event = ({ id, time_zone }: Box, name: string, day: Day, timezone = time_zone) =>
    [
      day,
      {
        container_id: id,
        transport_event_id: `${id} ${name} ${timezone}`,
        event: `container.transport.${name}`,
        timestamp: instant(day, timezone),
        timezone,
        is_estimated: false,
        _first_seen_at: '2026-01-01T00:00:00Z',
      },
    ] as const
  await scene.insert(
    'transport_events',
    ofDays(
      boxes.flatMap((box) => [
        event(box, 'vessel_berthed', box.berthed_on),
        event(box, 'available', box.available_on),
        event(box, 'available', box.ramp?.available_on ?? null, box.ramp?.time_zone ?? 'UTC'),
      ]),
    ),
  )
}

/** Every clock of the boxes in a zone in the evening of a day, in the words of the fixtures. */
async function readClocks(on: string, zone: string) {
  const rows = await scene.read('charge_clocks', {
    asOf: instant(on, zone, 20) ?? '',
    columns: [
      ...['container_id', 'place', 'charge', 'rule_name', 'state', 'last_free_on'],
      ...['days_over', 'amount', 'currency_code'],
    ],
  })
  return rows.map(({ container_id, rule_name, currency_code, place, ...rest }) => ({
    id: container_id,
    place: place === 'out' ? null : place,
    ...rest,
    rule: rule_name,
    currency: currency_code,
  }))
}

const inOrder = (clocks: readonly object[]) =>
  clocks.map((one) => JSON.stringify(one, Object.keys(one).toSorted())).toSorted()

beforeAll(() => {
  expect(TARIFFS).toHaveLength(20)
})

async function expectCounted(name: string): Promise<void> {
  const { boxes } = JSON.parse(readFileSync(new URL(`${name}.json`, COUNTED), 'utf8')) as Tariff
  for (const file of ['calendars', 'holidays', name]) await importFile(file)
  await insertBoxes(boxes)
  const looks = new Map<string, { on: string; zone: string }>()
  for (const { looks: own, time_zone: zone } of boxes) {
    for (const { on } of own) looks.set(`${on} ${zone}`, { on, zone })
  }
  let compared = 0
  /** Of the look before: no clock costs less as days pass. */
  const costs = new Map<string, number>()
  for (const { on, zone } of [...looks.values()].sort((a, b) => a.on.localeCompare(b.on))) {
    const found = await readClocks(on, zone)
    for (const { id, time_zone, looks: own } of boxes) {
      const counted = own.find((one) => one.on === on)
      if (counted === undefined || time_zone !== zone) continue
      const shown = found.filter((one) => one.id === id)
      expect(inOrder(shown), `${id} on ${on}`).toEqual(
        inOrder(counted.clocks.map((clock) => ({ id, ...clock }))),
      )
      compared += counted.clocks.length
      for (const { charge, place, amount } of counted.clocks) {
        const clock = [id, charge, place].join()
        expect(Number(amount), `${clock} on ${on}`).toBeGreaterThanOrEqual(costs.get(clock) ?? 0)
        costs.set(clock, Number(amount))
      }
    }
  }
  expect(compared).toBe(boxes.flatMap(({ looks: own }) => own.flatMap((l) => l.clocks)).length)
}

it.each(QUICK)('%s costs what was counted by hand', { tags: ['JA15', 'I20'] }, expectCounted)

it.each(TARIFFS.filter((name) => !QUICK.includes(name)))(
  '%s costs what was counted by hand',
  { tags: ['JA15', 'release'] },
  expectCounted,
)
