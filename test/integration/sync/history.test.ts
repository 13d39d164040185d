import { afterEach, expect, it } from 'vitest'
import type { ResourceIdentifier, ResourceObject } from '../../../src/source/jsonapi/document.js'
import { expectedDeadlines, listOf } from '../../support/snapshot-children.js'
import { canonical, instant } from '../../support/snapshot-values.js'
import { expectNothingToWrite, syncToEquality } from './expect-sync.js'
import { closeScenes, HOUR, openLoadedScene, openScene, type Scene } from './sync-scene.js'

afterEach(closeScenes)

/** Values under a key, each with the instants between which we saw it. */
type Intervals = Map<string, { readonly value: string; readonly from: bigint; to: bigint | null }[]>

/** Attributes that change whenever the service looks: they make no version. */
const NO_VERSION =
  /^(?:terminal_checked_at|\w+_last_tracking_request_at|line_tracking_last_\w+_at)$/

const SHIPMENT_RELATIONS = [
  'port_of_lading',
  'port_of_discharge',
  'pod_terminal',
  'destination',
  'destination_terminal',
  'line_tracking_stopped_by_user',
]
const CONTAINER_RELATIONS = ['shipment', 'pickup_facility', 'pod_terminal']

it('keeps every version with when it came and went', { tags: ['N6', 'release'] }, async () => {
  const scene = await openScene({ shipments: 16, seed: 3 })
  const { clock, edits, world } = scene.simulator
  // So small a world clears no hold by itself.
  const held = [...world.records('container', clock.now())][1]!.id
  const seen = new Map<string, Intervals>(
    ['shipment', 'container', 'hold', 'fee', 'deadline'].map((kind) => [kind, new Map()]),
  )
  for (let run = 0; run < 12; run += 1) {
    if (run > 0) clock.advance(14 * HOUR)
    if (run === 2) edits.addHold(held, { name: 'audit', status: 'hold', description: 'brief' })
    if (run === 6) edits.clearHold(held, 'audit')
    await syncToEquality(scene, { command: run === 0 ? 'backfill' : 'sync' })
    observe(seen, scene)
  }
  await expectNothingToWrite(scene)

  const shipment = [...world.records('shipment', clock.now())][0]!
  const container = [...world.records('container', clock.now())][0]!
  await expectHistory(scene, seen.get('shipment')!, {
    table: 'shipment_history',
    key: ['shipment_id'],
    values: versionColumns(shipment, SHIPMENT_RELATIONS),
  })
  await expectHistory(scene, seen.get('container')!, {
    table: 'container_history',
    key: ['container_id'],
    values: versionColumns(container, CONTAINER_RELATIONS),
  })
  await expectHistory(scene, seen.get('hold')!, {
    table: 'container_hold_history',
    key: ['container_id', 'place', 'name', 'description'],
    values: ['status', 'detail'],
  })
  await expectHistory(scene, seen.get('fee')!, {
    table: 'container_fee_history',
    key: ['container_id', 'place', 'type', 'currency_code'],
    values: ['amount'],
  })
  await expectHistory(scene, seen.get('deadline')!, {
    table: 'container_import_deadline_history',
    key: ['container_id', 'kind'],
    values: ['place', 'deadline_at', 'time_zone', 'local_date'],
  })
  // The world must have moved, or nothing was shown.
  for (const [kind, intervals] of seen) {
    const closed = [...intervals.values()].flat().filter(({ to }) => to !== null).length
    expect({ kind, closed }).not.toEqual({ kind, closed: 0 })
  }
})

it('makes no version of what changes only because the service looked', async () => {
  const scene = await openLoadedScene({ shipments: 6 })
  const { clock, edits, world } = scene.simulator
  const container = [...world.records('container', clock.now())][0]!
  const stamps = () =>
    scene.query(
      `select containers._changed_at, containers._observed_at, containers.terminal_checked_at,
          (select count(*) from tracking.container_history as history
              where history.container_id = containers.container_id) as versions
      from tracking.containers where container_id = $1`,
      container.id,
    )
  clock.advance(60_000)
  edits.change('container', container.id, { terminal_checked_at: '2026-03-02T08:00:30Z' })
  await syncToEquality(scene)
  expect(await stamps()).toEqual([
    {
      _changed_at: '2026-03-02 08:00:00+00',
      _observed_at: '2026-03-02 08:01:00+00',
      terminal_checked_at: '2026-03-02 08:00:30+00',
      versions: 1,
    },
  ])
  await expectNothingToWrite(scene)
})

it('keeps one version of two changes at one instant', { tags: ['release'] }, async () => {
  const scene = await openLoadedScene({ shipments: 6 })
  const { clock, edits, world } = scene.simulator
  const shipment = [...world.records('shipment', clock.now())][0]!
  clock.advance(60_000)
  for (const customer_name of ['first', 'second', 'third']) {
    edits.change('shipment', shipment.id, { customer_name })
    await syncToEquality(scene)
  }
  const versions = await scene.query(
    `select customer_name, valid_from, valid_to from tracking.shipment_history
    where shipment_id = $1 order by valid_from`,
    shipment.id,
  )
  const changed = '2026-03-02 08:01:00+00'
  expect(versions).toEqual([
    {
      customer_name: shipment.attributes?.customer_name,
      valid_from: '2026-03-02 08:00:00+00',
      valid_to: changed,
    },
    { customer_name: 'third', valid_from: changed, valid_to: null },
  ])
  await expectNothingToWrite(scene)
})

function versionColumns(record: ResourceObject, relations: readonly string[]): string[] {
  const attributes = Object.keys(record.attributes ?? {}).filter((name) => !NO_VERSION.test(name))
  return [...attributes, ...relations.map((name) => `${name}_id`)].sort()
}

/** Takes what the service says at this instant into the intervals. */
function observe(seen: ReadonlyMap<string, Intervals>, { simulator }: Scene): void {
  const at = simulator.clock.now()
  const standing = new Map<string, Map<string, string>>()
  const note = (kind: string, key: readonly unknown[], value: Record<string, unknown>): void => {
    const values = standing.get(kind) ?? new Map<string, string>()
    values.set(JSON.stringify(key), describe(value))
    standing.set(kind, values)
  }
  for (const shipment of simulator.world.records('shipment', at)) {
    note('shipment', [shipment.id], versionOf(shipment, SHIPMENT_RELATIONS))
  }
  for (const container of simulator.world.records('container', at)) {
    const { id, attributes = {} } = container
    note('container', [id], versionOf(container, CONTAINER_RELATIONS))
    for (const [place, holds, fees] of [
      ['port', attributes.holds_at_pod_terminal, attributes.fees_at_pod_terminal],
      ['ramp', attributes.ind_facility_holds, attributes.ind_facility_fees],
    ] as const) {
      for (const { name, description, status, detail = null } of listOf(holds)) {
        note('hold', [id, place, name, description], { status, detail })
      }
      for (const { type, currency_code, amount } of listOf(fees)) {
        note('fee', [id, place, type, currency_code], { amount })
      }
    }
    for (const row of expectedDeadlines(container)) {
      const { kind, place, deadline_at, time_zone, local_date } = row
      note('deadline', [id, kind], { place, deadline_at, time_zone, local_date })
    }
  }
  const now = BigInt(at.getTime()) * 1000n
  for (const [kind, intervals] of seen) extend(intervals, standing.get(kind) ?? new Map(), now)
}

function extend(intervals: Intervals, standing: ReadonlyMap<string, string>, now: bigint): void {
  for (const [key, value] of standing) {
    const list = intervals.get(key) ?? []
    intervals.set(key, list)
    const last = list.at(-1)
    if (last?.to === null && last.value === value) continue
    if (last?.to === null) last.to = now
    list.push({ value, from: now, to: null })
  }
  for (const [key, list] of intervals) {
    const last = list.at(-1)
    if (last?.to === null && !standing.has(key)) last.to = now
  }
}

function versionOf(record: ResourceObject, relations: readonly string[]): Record<string, unknown> {
  const attributes = Object.entries(record.attributes ?? {}).filter(
    ([name]) => !NO_VERSION.test(name),
  )
  const links = relations.map((name) => {
    const target = record.relationships?.[name]?.data as ResourceIdentifier | null
    return [`${name}_id`, target?.id ?? null]
  })
  return Object.fromEntries([...attributes, ...links]) as Record<string, unknown>
}

/** Times by their instant, numbers by their value, in any notation. */
function describe(value: Readonly<Record<string, unknown>>): string {
  const texts = Object.entries(value)
    .sort(([one], [two]) => (one < two ? -1 : 1))
    .map(([name, member]) => {
      const time = typeof member === 'string' ? instant(member) : undefined
      if (time !== undefined) return [name, String(time)]
      return [
        name,
        name === 'amount' || name === 'weight_in_lbs'
          ? canonical('numeric', member)
          : canonical('jsonb', member),
      ]
    })
  return JSON.stringify(texts)
}

async function expectHistory(
  { query }: Scene,
  expected: Intervals,
  spec: {
    readonly table: string
    readonly key: readonly string[]
    readonly values: readonly string[]
  },
): Promise<void> {
  const rows = await query(`select * from tracking.${spec.table} order by valid_from`)
  const found: Intervals = new Map()
  for (const row of rows) {
    const key = JSON.stringify(spec.key.map((name) => row[name]))
    const value = describe(Object.fromEntries(spec.values.map((name) => [name, row[name]])))
    const to = row.valid_to === null ? null : instant(row.valid_to as string)!
    const interval = { value, from: instant(row.valid_from as string)!, to }
    found.set(key, [...(found.get(key) ?? []), interval])
  }
  const wrong = [...new Set([...expected.keys(), ...found.keys()])].filter(
    (key) => show(found.get(key)) !== show(expected.get(key)),
  )
  expect(
    wrong.slice(0, 3).map((key) => ({ key, is: found.get(key), should: expected.get(key) })),
  ).toEqual([])
}

function show(list: Intervals extends Map<string, infer List> ? List | undefined : never): string {
  return JSON.stringify(list, (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )
}
