import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { lastFreeDay } from '../../support/scenes/charges.js'
import { givenAndExpected } from '../../support/tables.js'

const scene = useAnalyticsScene()

/** Noon of 8 November in Los Angeles (UTC-8), 14:00 in Chicago. */
const AS_OF = '2026-11-08T20:00:00Z'

type Texts<Name extends string> = Readonly<Record<Name, string>>
type Days<Name extends string> = Readonly<Record<Name, string | null>>
type Stay = Texts<'container_id' | 'place' | 'state'> &
  Days<'start_at' | 'end_at' | 'terminal_on' | 'line_on' | 'rail_on' | 'service_on'> &
  Days<'reported_on' | 'binding_on'> & {
    readonly days_over: number | null
    readonly has_begun: boolean
    readonly has_ended: boolean
  }

it('keeps stays apart and binds the earliest day', { tags: ['I20', 'FE2', 'FE3'] }, async () => {
  // Every order of the milestones, some of them contradictions, the last one still to come; and the
  // days by turns: said, said and not readable, not said. Each order with three sets of days.
  const instants = ['2026-11-04', '2026-11-06', '2026-11-09', null].map((on) =>
    on === null ? null : `${on}T20:00:00Z`,
  )
  const milestones = [
    'pod_full_out_at',
    'pod_rail_departed_at',
    'ind_ata_at',
    'ind_rail_unloaded_at',
    'final_destination_full_out_at',
  ]
  const boxes = Array.from({ length: 3 * instants.length ** milestones.length }, (_, n) => ({
    ...{ container_id: `c${n}`, number: `c${n}`, pod_timezone: 'America/Los_Angeles' },
    final_destination_timezone: 'America/Chicago',
    pod_discharged_at: n % 3 === 0 ? null : '2026-11-03T20:00:00Z',
    ...Object.fromEntries(
      milestones.map((name, digit) => [
        name,
        instants[Math.floor(n / instants.length ** digit) % instants.length],
      ]),
    ),
  }))
  const days = boxes.flatMap(({ container_id }, n) =>
    (['terminal', 'line', 'rail', 'service'] as const).flatMap((source, nth) => {
      // No source turns as another one does, or as a milestone.
      const turn = Math.floor(n / 6 ** nth) % 6
      const on = ['05', '07', '08', '09'][turn - 2]
      if (turn === 0) return []
      return [lastFreeDay(container_id, source, turn === 1 ? null : `2026-11-${on}`)]
    }),
  )
  await scene.insertKnown('containers', boxes)
  await scene.insertKnown('container_import_deadlines', days)
  const rows: unknown = await scene.read('container_stays', { asOf: AS_OF })
  const stays = rows as readonly Stay[]
  const ports = new Map(
    stays.flatMap((stay) => (stay.place === 'port' ? [[stay.container_id, stay]] : [])),
  )
  // The service's pick binds only where no source says a day, readable or not.
  const said = new Set(days.flatMap((day) => (day.kind === 'pickup_lfd' ? [] : [day.container_id])))
  const now = '2026-11-08 20:00:00+00'
  const broken = stays.filter((stay) => {
    const { state, binding_on: binding, days_over: over, start_at: start, end_at: end } = stay
    const port = ports.get(stay.container_id)!
    const [earliest] = [stay.terminal_on, stay.line_on, stay.rail_on]
      .filter((on) => on !== null)
      .sort()
    const binds = [earliest ?? null, earliest === undefined ? stay.service_on : null]
    const isCounted = (over !== null) === ['overdue', 'out_late'].includes(state)
    const isPast = (start ?? now) <= now && (end ?? now) <= now
    const isAfterPort =
      stay === port ||
      ((start ?? now) >= (port.end_at ?? '') && (port.has_ended || !stay.has_begun))
    const isPick = earliest === undefined && binding !== null
    const isBinding = binds.includes(binding) && !(isPick && said.has(stay.container_id))
    // No rule says another day.
    const isReported = stay.reported_on === binding
    return !(isBinding && isReported && isCounted && (over ?? 1) >= 1 && isPast && isAfterPort)
  })
  expect(broken).toEqual([])
  // States that never occurred prove nothing.
  const met = [...new Set(stays.map(({ place, state }) => `${place} ${state}`))].sort()
  const words = 'due_today none not_started out_in_time out_late overdue unknown upcoming'
  expect(met).toEqual(
    ['port', 'ramp'].flatMap((place) => words.split(' ').map((state) => `${place} ${state}`)),
  )
})

const shows = (table: string) =>
  scene.expectRows('container_stays', { asOf: AS_OF, rest: 'order by container_id, place' }, table)

const BOX = { pod_timezone: 'America/Los_Angeles', pod_discharged_at: '2026-11-03T20:00:00Z' }

it('keeps a day that was withdrawn after the container left', { tags: ['JA14'] }, async () => {
  const out = '2026-11-07T20:00:00Z'
  const boxes = `
    container_id | pod_full_out_at | pod_rail_departed_at | ind_ata_at        | final_destination_full_out_at | final_destination_timezone
    after        | ${out}          |                      |                   |                               |
    before       | ${out}          |                      |                   |                               |
    given again  | ${out}          |                      |                   |                               |
    rail         |                 | 2026-11-05T20:00Z    | 2026-11-07T06:00Z | ${out}                        | America/Chicago
    there        |                 |                      |                   |                               |`
  await scene.insertKnown('containers', boxes, BOX)
  // Withdrawn at noon of the 8th, or a day before, when it was still there.
  const days = Object.entries({ after: 8, before: 7, 'given again': 8, rail: 8, there: 8 })
  const withdrawn = days.map(([id, on]) => ({
    ...lastFreeDay(id, id === 'rail' ? 'rail' : 'terminal', `2026-11-0${id === 'rail' ? 6 : 5}`),
    ...{ valid_from: '2026-11-01T00:00:00Z', valid_to: `2026-11-0${on}T16:00:00Z` },
  }))
  const again = lastFreeDay('given again', 'terminal', '2026-11-07')
  const since = { ...again, valid_from: '2026-11-08T16:00:00Z' }
  await scene.insert('container_import_deadline_history', [...withdrawn, since])
  await scene.insert('container_import_deadlines', [again])
  await shows(`
    container_id | place | state       | days_over | binding_on
    after        | port  | out_late    | 2         | 2026-11-05
    before       | port  | none        | -         | -
    given again  | port  | out_in_time | -         | 2026-11-07
    rail         | port  | none        | -         | -
    rail         | ramp  | out_late    | 1         | 2026-11-06
    there        | port  | none        | -         | -`)
})

it('is not unknown where the terminal was asked lately', { tags: ['JA11'] }, async () => {
  await scene.insertKnown('shipments', [
    { shipment_id: 's1', line_tracking_stopped_reason: 'no_updates_at_line' },
  ])
  const [boxes, expected] = givenAndExpected(`
    container_id | terminal_checked_at  => state   | days_over | is_untold
    asked        | 2026-11-06T20:00:01Z => overdue | 2         | false
    -- A look after the instant asked about says nothing of it.
    later        | 2026-11-08T20:00:01Z => unknown | -         | true
    long ago     | 2026-11-06T20:00:00Z => unknown | -         | true
    never        | -                    => unknown | -         | true`)
  await scene.insertKnown('containers', boxes, { ...BOX, shipment_id: 's1' })
  const days = ['asked', 'later', 'long ago', 'never'].map((id) =>
    lastFreeDay(id, 'terminal', '2026-11-06'),
  )
  await scene.insertKnown('container_import_deadlines', days)
  await shows(expected)
})
