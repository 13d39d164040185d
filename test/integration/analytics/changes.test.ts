import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'

const scene = useAnalyticsScene()

const LOS_ANGELES = 'America/Los_Angeles'
const [FIRST, SECOND, THIRD] = [
  '2026-10-30T00:00:00Z',
  '2026-10-31T00:00:00Z',
  '2026-11-02T00:00:00Z',
]

const COLUMNS =
  'change | subject | from_value | to_value | effect | shift_hours | shift_days | change_amount | change_currency_code'

/** The changes of one look. */
const shows = (learnedAt: string, table: string, box = 'c1', asOf = '') =>
  scene.expectRows(
    'changes',
    {
      asOf,
      rest: `where container_id = '${box}' and learned_at = '${learnedAt}'
        order by change, subject, from_value`,
    },
    `${COLUMNS}\n${table}`,
  )

it('shows what was, what is, and whether that is better or worse, look by look', async () => {
  await scene.insert('terminals', [
    { terminal_id: 't1', name: 'West Basin', nickname: 'WBCT' },
    { terminal_id: 't2', name: 'Everport' },
  ])
  const shipment = {
    shipment_id: 's1',
    bill_of_lading_number: 'BOL1',
    shipping_line_scac: 'MAEU',
    customer_name: 'Acme',
    ref_numbers: ['PO-1'],
    pod_timezone: LOS_ANGELES,
  }
  await scene.insert('shipments', [shipment])
  const versions = `
    valid_from | valid_to  | pod_vessel_imo | pod_vessel_name    | pod_eta_at
    ${FIRST}   | ${SECOND} | 9000001        | EVER ONE           | 2026-10-31T08:00Z
    ${SECOND}  | ${THIRD}  | 9000001        | Ever One (renamed) | 2026-11-02T08:00Z
    ${THIRD}   | -         | 9000002        | EVER TWO           | -`
  await scene.insert('shipment_history', versions, shipment)
  const box = (container_id: string, more: object = {}) => ({
    container_id,
    number: 'MSKU0000001',
    shipment_id: 's1',
    pod_timezone: LOS_ANGELES,
    ref_numbers: ['BOX-1'],
    ...more,
  })
  await scene.insert('containers', [
    { ...box('c1', { pod_terminal_id: 't2' }), _first_seen_at: FIRST },
    { ...box('c2', { shipment_id: null }), _first_seen_at: FIRST },
    { ...box('gone'), _deleted_at: THIRD },
  ])
  // The clocks go back on 1 November.
  const ofFirst = `
    valid_from | valid_to  | source  | pod_terminal_id | availability_known | available_for_pickup | pod_discharged_at | pickup_appointment_at | pod_full_out_at
    ${FIRST}   | ${SECOND} | sync    | t1              | true               | false                | 2026-10-31T20:00Z |                       |
    ${SECOND}  | ${THIRD}  | webhook | t1              | true               | true                 | 2026-11-01T18:00Z | 2026-11-03T16:00Z     |
    ${THIRD}   | -         | sync    | t2              | false              | true                 | 2026-11-01T18:00Z | 2026-11-03T14:30Z     | 2026-11-03T15:00Z`
  await scene.insert('container_history', ofFirst, box('c1'))
  const nowhere = { shipment_id: null, final_destination_timezone: 'Mars/Olympus' }
  await scene.insert('container_history', [
    { ...box('c2', nowhere), valid_from: FIRST, valid_to: SECOND },
    { ...box('c2', nowhere), valid_from: SECOND, ind_eta_at: '2026-11-05T12:00Z' },
    { ...box('gone'), valid_from: FIRST, valid_to: SECOND },
    { ...box('gone'), valid_from: SECOND, valid_to: THIRD, pod_full_out_at: SECOND },
  ])
  const holds = `
    hold_key | name    | status  | valid_from | valid_to
    customs  | customs | pending | ${FIRST}   | ${SECOND}
    customs  | customs | hold    | ${SECOND}  | ${THIRD}
    freight  | freight | hold    | ${SECOND}  | ${THIRD}
    freight  | freight | pending | ${THIRD}   | -`
  const fees = `
    fee_key   | type      | amount | currency_code | valid_from | valid_to
    exam      | exam      | 80     | USD           | ${FIRST}   | ${THIRD}
    demurrage | demurrage | 120.50 | USD           | ${SECOND}  | ${THIRD}
    demurrage | demurrage | 90     | USD           | ${THIRD}   | -
    other     | other     | -      | USD           | ${SECOND}  | -`
  const days = `
    kind                | local_date | time_zone      | valid_from | valid_to
    pickup_lfd_line     | 2026-11-05 | ${LOS_ANGELES} | ${FIRST}   | ${SECOND}
    pickup_lfd_line     | 2026-11-03 | ${LOS_ANGELES} | ${SECOND}  | -
    pickup_lfd_terminal | 2026-11-04 | ${LOS_ANGELES} | ${SECOND}  | ${THIRD}
    pickup_lfd          | 2026-11-04 | ${LOS_ANGELES} | ${SECOND}  | ${THIRD}
    pickup_lfd          | 2026-11-06 | ${LOS_ANGELES} | ${THIRD}   | -`
  for (const [of, table] of Object.entries({ hold: holds, fee: fees, import_deadline: days })) {
    await scene.insert(`container_${of}_history`, table, { container_id: 'c1' })
  }

  await shows(FIRST, '')
  // Another name of the same vessel is not a change.
  const second = `
    ETA           | port      | 2026-10-31 01:00 | 2026-11-02 00:00 | worse  | 48.00 | -  | -      | -
    appointment   | -         | -                | 2026-11-03 08:00 | better | -     | -  | -      | -
    availability  | -         | not available    | available        | better | -     | -  | -      | -
    fee           | demurrage | -                | 120.50 USD       | worse  | -     | -  | 120.50 | USD
    fee           | other     | -                | amount not said  | -      | -     | -  | -      | -
    hold          | customs   | pending          | hold             | worse  | -     | -  | -      | -
    hold          | freight   | -                | hold             | worse  | -     | -  | -      | -
    last free day | line      | 2026-11-05       | 2026-11-03       | worse  | -     | -2 | -      | -
    last free day | service   | -                | 2026-11-04       | -      | -     | -  | -      | -
    last free day | terminal  | -                | 2026-11-04       | -      | -     | -  | -      | -
    milestone     | discharge | 2026-10-31 13:00 | 2026-11-01 10:00 | worse  | 22.00 | -  | -      | -`
  await shows(SECOND, second)
  await shows(
    THIRD,
    `
    ETA           | port               | 2026-11-02 00:00   | -                | worse  | -     | - | -      | -
    appointment   | -                  | 2026-11-03 08:00   | 2026-11-03 06:30 | better | -1.50 | - | -      | -
    availability  | -                  | available          | -                | worse  | -     | - | -      | -
    fee           | demurrage          | 120.50 USD         | 90 USD           | better | -     | - | -30.50 | USD
    fee           | exam               | 80 USD             | -                | better | -     | - | -80    | USD
    hold          | customs            | hold               | -                | better | -     | - | -      | -
    hold          | freight            | hold               | pending          | better | -     | - | -      | -
    last free day | service            | 2026-11-04         | 2026-11-06       | better | -     | 2 | -      | -
    last free day | terminal           | 2026-11-04         | -                | -      | -     | - | -      | -
    milestone     | pickup at the port | -                  | 2026-11-03 07:00 | better | -     | - | -      | -
    terminal      | -                  | WBCT               | Everport         | -      | -     | - | -      | -
    vessel        | -                  | Ever One (renamed) | EVER TWO         | -      | -     | - | -      | -`,
  )
  await shows(SECOND, 'ETA | ramp | - | 2026-11-05 12:00 UTC | - | - | - | - | -', 'c2')
  await shows(SECOND, '', 'gone')
  // As of an instant, later changes are unknown.
  await shows(THIRD, '', 'c1', '2026-11-01T00:00:00Z')
  await shows(SECOND, second, 'c1', '2026-11-01T00:00:00Z')
  expect(
    await scene.read('changes', {
      rest: `where container_id = 'c1' and change = 'availability' order by learned_at limit 1`,
    }),
  ).toMatchSnapshot()
})
