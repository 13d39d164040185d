import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'

const scene = useAnalyticsScene()

const AS_OF = '2026-03-31T00:00:00Z'
const LINE = { shipping_line_scac: 'MAEU', pod_timezone: 'America/Los_Angeles' }
const COLUMNS = 'shipment_id | horizon_days | outcome | is_counted | error_hours'

const versions = (table: string, more: object = {}) =>
  scene.insertVersionTable({ ...LINE, ...more }, table)
const shows = (table: string, asOf = AS_OF, rest = '') =>
  scene.expectRows('eta_promises', { asOf, rest }, table)
const promises = (rows: string) => shows(`${COLUMNS}\n${rows}`, AS_OF, 'order by 1, 2')

it('has the whole row of a promise', async () => {
  // Why tracking stopped is of no interest once it has arrived.
  const more = {
    bill_of_lading_number: 'B1',
    port_of_discharge_locode: 'USLAX',
    line_tracking_stopped_reason: 'all_containers_terminated',
  }
  await versions(
    `shipment_id | valid_from        | pod_eta_at        | pod_ata_at
     s1          | 2026-03-01T00:00Z | 2026-03-10T12:00Z | -
     s1          | 2026-03-11T06:00Z | 2026-03-10T12:00Z | 2026-03-11T00:00Z`,
    more,
  )
  expect(
    await scene.read('eta_promises', { rest: 'order by horizon_days', asOf: AS_OF }),
  ).toMatchSnapshot()
})

it('takes the first ETA that was so far ahead, and keeps it within 24 hours, before and after', async () => {
  await versions(`
    shipment_id   | valid_from        | pod_eta_at           | pod_ata_at
    early         | 2026-03-05T00:00Z | 2026-03-10T12:00Z    | -
    early         | 2026-03-12T00:00Z | 2026-03-10T12:00Z    | 2026-03-09T12:00:00Z
    earlier       | 2026-03-05T00:00Z | 2026-03-10T12:00Z    | -
    earlier       | 2026-03-12T00:00Z | 2026-03-10T12:00Z    | 2026-03-09T11:59:24Z
    late          | 2026-03-05T00:00Z | 2026-03-10T12:00Z    | -
    late          | 2026-03-12T00:00Z | 2026-03-10T12:00Z    | 2026-03-11T12:00:00Z
    later         | 2026-03-05T00:00Z | 2026-03-10T12:00Z    | -
    later         | 2026-03-12T00:00Z | 2026-03-10T12:00Z    | 2026-03-11T12:00:36Z
    -- A version is valid at its first instant, and no longer at its last.
    first instant | 2026-03-08T12:00Z | 2026-03-10T12:00Z    | -
    first instant | 2026-03-14T06:00Z | -                    | 2026-03-14T00:00Z
    last instant  | 2026-03-05T00:00Z | 2026-03-10T12:00Z    | -
    last instant  | 2026-03-08T12:00Z | -                    | -
    last instant  | 2026-03-14T06:00Z | -                    | 2026-03-14T00:00Z
    -- From twenty days to one: it passed over all of them.
    jumped        | 2026-03-01T00:00Z | 2026-03-21T00:00Z    | -
    jumped        | 2026-03-05T00:00Z | 2026-03-06T00:00Z    | -
    jumped        | 2026-03-14T06:00Z | -                    | 2026-03-14T00:00Z
    -- Postponed when it was two days ahead: it is so again, and the first counts.
    postponed     | 2026-03-06T00:00Z | 2026-03-10T12:00Z    | -
    postponed     | 2026-03-09T00:00Z | 2026-03-14T00:00Z    | -
    postponed     | 2026-03-14T06:00Z | 2026-03-14T00:00Z    | 2026-03-14T00:00Z
    -- Three days early, and reported two days later: the ETA was still to come two days before it.
    reported late | 2026-03-10T00:00Z | 2026-03-20T00:00Z    | -
    reported late | 2026-03-19T00:00Z | 2026-03-20T00:00Z    | 2026-03-17T00:00Z
    -- An arrival that was taken back: the version said that it was there.
    taken back    | 2026-03-09T00:00Z | 2026-03-12T00:00Z    | 2026-03-08T00:00Z
    taken back    | 2026-03-11T00:00Z | 2026-03-12T00:00Z    | -
    taken back    | 2026-03-12T06:00Z | 2026-03-12T00:00Z    | 2026-03-12T00:00Z
    -- Not arrived, a day late to the second; later; announced for after now.
    a day over    | 2026-03-26T00:00Z | 2026-03-30T00:00Z    | -
    overdue       | 2026-03-26T00:00Z | 2026-03-29T00:00Z    | -
    said to come  | 2026-03-26T00:00Z | 2026-03-29T00:00Z    | 2026-03-31T01:00Z
    -- In two days from now on, and not yet.
    to come       | 2026-03-26T00:00Z | 2026-04-02T00:00Z    | -
    to come soon  | 2026-03-26T00:00Z | 2026-04-02T00:00:01Z | -`)
  await promises(`
    a day over    | 2 | undecided | false | -
    earlier       | 2 | not_kept  | true  | -24.01
    early         | 2 | kept      | true  | -24
    first instant | 2 | not_kept  | true  | 84
    late          | 2 | kept      | true  | 24
    later         | 2 | not_kept  | true  | 24.01
    overdue       | 2 | not_kept  | true  | 48
    postponed     | 2 | not_kept  | true  | 84
    reported late | 7 | not_kept  | true  | -72
    said to come  | 2 | not_kept  | true  | 48
    to come       | 2 | undecided | false | -
    to come       | 7 | undecided | false | -
    to come soon  | 7 | undecided | false | -`)
})

it('does not know of a ship that nobody asks for, or that is there without an arrival', async () => {
  await versions(
    `shipment_id      | valid_from        | line_tracking_stopped_at | line_tracking_stopped_reason
     landed           | 2026-03-08T00:00Z | -                        | -
     -- It still asked by then: not kept, and late so far until it stopped.
     late enough      | 2026-03-08T00:00Z | 2026-03-11T18:00Z        | no_updates_at_line
     nobody said when | 2026-03-08T00:00Z | -                        | no_updates_at_line
     too early        | 2026-03-08T00:00Z | 2026-03-11T12:00Z        | no_updates_at_line
     will stop        | 2026-03-08T00:00Z | 2026-04-05T00:00Z        | -`,
    { pod_eta_at: '2026-03-10T12:00Z' },
  )
  await scene.insert('container_history', [
    {
      container_id: 'c1',
      shipment_id: 'landed',
      valid_from: '2026-03-08T00:00Z',
      pod_discharged_at: '2026-03-10T18:00Z',
    },
  ])
  await promises(`
    landed           | 2 | unknown  | false | -
    late enough      | 2 | not_kept | true  | 30
    nobody said when | 2 | unknown  | false | -
    too early        | 2 | unknown  | false | -
    will stop        | 2 | not_kept | true  | 492`)
})

it('counts no promise before those of late ships could', async () => {
  await versions(`
    shipment_id | valid_from        | pod_eta_at        | pod_ata_at
    on time     | 2026-03-26T00:00Z | 2026-03-30T00:00Z | -
    on time     | 2026-03-30T12:00Z | 2026-03-30T00:00Z | 2026-03-30T06:00Z`)
  await promises('on time | 2 | kept | false | 6')
  await shows('is_counted\ntrue', '2026-03-31T00:00:01Z')
})

it('takes the quarter of the local day, and none in a zone that is none', async () => {
  await versions(`
    shipment_id | valid_from        | pod_eta_at        | pod_timezone
    here        | 2026-03-29T12:00Z | 2026-04-01T05:00Z | America/Los_Angeles
    nowhere     | 2026-03-29T12:00Z | 2026-04-01T05:00Z | Mars/Olympus
    unsaid      | 2026-03-29T12:00Z | 2026-04-01T05:00Z | -`)
  await shows(
    `
    shipment_id | due_quarter_on
    here        | 2026-01-01
    nowhere     | -
    unsaid      | 2026-04-01`,
    AS_OF,
    'order by 1',
  )
})
