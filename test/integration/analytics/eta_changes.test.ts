import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'
import { rowsOf } from '../../support/tables.js'

const scene = useAnalyticsScene()

const SHIPMENT = {
  bill_of_lading_number: 'MAEU1',
  shipping_line_scac: 'MAEU',
  port_of_lading_locode: 'CNSHA',
  port_of_discharge_locode: 'USLAX',
}

/** Versions of shipments that follow each other. */
async function insertChanges(table: string, more: object = {}): Promise<void> {
  const base = { ...SHIPMENT, pod_timezone: 'America/Los_Angeles', ...more }
  await scene.insertVersionTable(base, table)
  await scene.query(
    `insert into tracking.shipments
      (shipment_id, bill_of_lading_number, shipping_line_scac, port_of_lading_locode,
      port_of_discharge_locode, _observed_at, _first_seen_at, _changed_at)
    select distinct shipment_id, bill_of_lading_number, shipping_line_scac, port_of_lading_locode,
      port_of_discharge_locode, now(), now(), now() from tracking.shipment_history`,
  )
}

const shows = (table: string, asOf = '') =>
  scene.expectRows('eta_changes', { asOf, rest: 'order by shipment_id, changed_at' }, table)

it('tells each move, and an ETA taken back and given again, but no first one', async () => {
  await insertChanges(`
    shipment_id | valid_from        | pod_eta_at        | pod_voyage_number | customer_name | source
    s1          | 2026-03-01T00:00Z | -                 |                   |               |
    -- The first ETA is not a change; a version that differs in another column is not one either.
    s1          | 2026-03-02T00:00Z | 2026-03-07T12:00Z | 011E              |               |
    s1          | 2026-03-03T00:00Z | 2026-03-07T12:00Z | 011E              | Somebody      |
    -- 7 March 04:00 PST to 8 March 05:00 PDT: 24 hours, though the clocks say 25.
    s1          | 2026-03-04T00:00Z | 2026-03-08T12:00Z | 012E              |               | webhook
    s1          | 2026-03-05T00:00Z | -                 | 012E              |               |
    s1          | 2026-03-06T00:00Z | 2026-03-08T10:30Z | 012E              |               |`)
  const rows = `
    kind        | source  | slip_hours | is_voyage_changed | changed_at             | from_eta_local      | to_eta_local
    moved       | webhook | 24.00      | true              | 2026-03-04 00:00:00+00 | 2026-03-07 04:00:00 | 2026-03-08 05:00:00
    withdrawn   | sync    | -          | false             | 2026-03-05 00:00:00+00 | 2026-03-08 05:00:00 | -`
  await shows(`${rows}
    given again | sync    | -          | false             | 2026-03-06 00:00:00+00 | -                   | 2026-03-08 03:30:00`)
  // As of an instant the later ones are not known yet.
  await shows(rows, '2026-03-05T12:00Z')
  const own = { ...SHIPMENT, shipment_id: 's1', is_zone_known: true }
  expect(await scene.read('eta_changes')).toMatchObject([own, own, own])
})

it('takes a missing zone as sent, flags one that is none, and compares nothing over a gap', async () => {
  await insertChanges(`
    shipment_id | valid_from        | pod_eta_at        | pod_timezone
    s1          | 2026-03-01T00:00Z | 2026-03-07T12:00Z | -
    s1          | 2026-03-02T00:00Z | 2026-03-07T10:30Z | -
    s2          | 2026-03-01T00:00Z | 2026-03-07T12:00Z | Mars/Olympus
    s2          | 2026-03-02T00:00Z | 2026-03-07T10:30Z | Mars/Olympus
    gone        | 2026-03-01T00:00Z | 2026-03-07T12:00Z |
    gone        | 2026-03-05T00:00Z | 2026-03-09T12:00Z |`)
  await scene.query(
    `update tracking.shipment_history set valid_to = '2026-03-02T00:00Z'
    where shipment_id = 'gone' and valid_to is not null`,
  )
  await shows(`
    shipment_id | slip_hours | is_zone_known | from_eta_local      | to_eta_local
    s1          | -1.50      | false         | 2026-03-07 12:00:00 | 2026-03-07 10:30:00
    s2          | -1.50      | false         | -                   | -`)
})

it('takes a vessel or voyage that was filled in, or is written otherwise, for no other one', async () => {
  const cases = rowsOf(`
    is_other | imo     | name        | voyage | other_imo | other_name  | other_voyage
    false    | 9000001 | EMMA MAERSK | 118E   | 9000001   | EMMA MAERSK | 118E
    false    | 9000001 | EMMA MAERSK | 118E   | 9000001   | EMMA MAERSK | 0118e
    false    | 9000001 | EMMA MAERSK | 118E   | 9000001   | Emma Mærsk  | 118E
    false    | -       | EMMA MAERSK | 118E   | -         | Emma Maersk | 118E
    -- Filled in, or no longer reported.
    false    | -       | EMMA MAERSK | 118E   | 9000001   | EMMA MAERSK | 118E
    false    | -       | -           | -      | 9000001   | EMMA MAERSK | 118E
    false    | 9000001 | EMMA MAERSK | 118E   | -         | -           | -
    -- Other vessels: by number, by name if one lacks a number, by voyage.
    true     | 9000001 | EMMA MAERSK | 118E   | 9000002   | EMMA MAERSK | 118E
    true     | -       | EMMA MAERSK | 118E   | 9000001   | EVER GIVEN  | 118E
    true     | 9000001 | EMMA MAERSK | 118E   | 9000001   | EMMA MAERSK | 118W
    true     | -       | -           | 118E   | -         | -           | 1180E`)
  for (const { is_other, ...given } of cases) {
    const [answer] = await scene.query(
      'select tracking_analytics.is_other_voyage($1, $2, $3, $4, $5, $6)::text as is_other',
      Object.values(given),
    )
    expect({ ...given, ...answer }).toEqual({ ...given, is_other })
  }
})
