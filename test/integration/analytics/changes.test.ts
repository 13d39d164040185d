import { expect, it } from 'vitest'
import { useAnalyticsScene } from '../../support/analytics-scene.js'

const scene = useAnalyticsScene()

const LOS_ANGELES = 'America/Los_Angeles'
const [FIRST, SECOND, THIRD] = [
  '2026-10-30T00:00:00Z',
  '2026-10-31T00:00:00Z',
  '2026-11-02T00:00:00Z',
]

const COLUMNS = [
  'change',
  'subject',
  'from_value',
  'to_value',
  'effect',
  'shift_hours',
  'shift_days',
  'change_amount',
  'change_currency_code',
]

/** Each change on a line, of one look. */
async function readLines(learnedAt: string, box = 'c1', asOf = ''): Promise<string[]> {
  const rows = await scene.read('changes', {
    asOf,
    columns: COLUMNS,
    rest: `where container_id = '${box}' and learned_at = '${learnedAt}'
      order by change, subject, from_value`,
  })
  return rows.map((row) =>
    Object.values(row)
      .map((value) =>
        typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value),
      )
      .join('|')
      .replace(/\|+$/, ''),
  )
}

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
  const ship = { pod_vessel_imo: '9000001', pod_vessel_name: 'EVER ONE' }
  await scene.insert('shipments', [shipment])
  await scene.insert('shipment_history', [
    { ...shipment, ...ship, valid_from: FIRST, valid_to: SECOND, pod_eta_at: '2026-10-31T08:00Z' },
    {
      ...shipment,
      pod_vessel_imo: '9000001',
      pod_vessel_name: 'Ever One (renamed)',
      valid_from: SECOND,
      valid_to: THIRD,
      pod_eta_at: '2026-11-02T08:00Z',
    },
    {
      ...shipment,
      pod_vessel_imo: '9000002',
      pod_vessel_name: 'EVER TWO',
      valid_from: THIRD,
      valid_to: null,
      pod_eta_at: null,
    },
  ])
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
  await scene.insert('container_history', [
    {
      ...box('c1', { pod_terminal_id: 't1', availability_known: true }),
      valid_from: FIRST,
      valid_to: SECOND,
      available_for_pickup: false,
      pod_discharged_at: '2026-10-31T20:00Z',
    },
    {
      ...box('c1', { pod_terminal_id: 't1', availability_known: true }),
      valid_from: SECOND,
      valid_to: THIRD,
      available_for_pickup: true,
      // The clocks go back on 1 November.
      pod_discharged_at: '2026-11-01T18:00Z',
      pickup_appointment_at: '2026-11-03T16:00Z',
      source: 'webhook',
    },
    {
      ...box('c1', { pod_terminal_id: 't2', availability_known: false }),
      valid_from: THIRD,
      valid_to: null,
      available_for_pickup: true,
      pod_discharged_at: '2026-11-01T18:00Z',
      pickup_appointment_at: '2026-11-03T14:30Z',
      pod_full_out_at: '2026-11-03T15:00Z',
    },
    {
      ...box('c2', { shipment_id: null, final_destination_timezone: 'Mars/Olympus' }),
      valid_from: FIRST,
      valid_to: SECOND,
    },
    {
      ...box('c2', { shipment_id: null, final_destination_timezone: 'Mars/Olympus' }),
      valid_from: SECOND,
      valid_to: null,
      ind_eta_at: '2026-11-05T12:00Z',
    },
    { ...box('gone'), valid_from: FIRST, valid_to: SECOND },
    { ...box('gone'), valid_from: SECOND, valid_to: THIRD, pod_full_out_at: SECOND },
  ])
  const hold = (hold_key: string, valid_from: string, valid_to: string | null, status: string) => ({
    container_id: 'c1',
    hold_key,
    name: hold_key,
    status,
    valid_from,
    valid_to,
  })
  await scene.insert('container_hold_history', [
    hold('customs', FIRST, SECOND, 'pending'),
    hold('customs', SECOND, THIRD, 'hold'),
    hold('freight', SECOND, THIRD, 'hold'),
    hold('freight', THIRD, null, 'pending'),
  ])
  const fee = (
    type: string,
    valid_from: string,
    valid_to: string | null,
    amount: string | null,
  ) => ({
    container_id: 'c1',
    fee_key: type,
    type,
    amount,
    currency_code: 'USD',
    valid_from,
    valid_to,
  })
  await scene.insert('container_fee_history', [
    fee('exam', FIRST, THIRD, '80'),
    fee('demurrage', SECOND, THIRD, '120.50'),
    fee('demurrage', THIRD, null, '90'),
    fee('other', SECOND, null, null),
  ])
  const day = (kind: string, valid_from: string, valid_to: string | null, on: string) => ({
    container_id: 'c1',
    kind,
    local_date: on,
    time_zone: LOS_ANGELES,
    valid_from,
    valid_to,
  })
  await scene.insert('container_import_deadline_history', [
    day('pickup_lfd_line', FIRST, SECOND, '2026-11-05'),
    day('pickup_lfd_line', SECOND, null, '2026-11-03'),
    day('pickup_lfd_terminal', SECOND, THIRD, '2026-11-04'),
    day('pickup_lfd', SECOND, THIRD, '2026-11-04'),
    day('pickup_lfd', THIRD, null, '2026-11-06'),
  ])

  expect(await readLines(FIRST)).toEqual([])
  // Another name of the same vessel is not a change.
  expect(await readLines(SECOND)).toEqual([
    'ETA|port|2026-10-31 01:00|2026-11-02 00:00|worse|48.00',
    'appointment|||2026-11-03 08:00|better',
    'availability||not available|available|better',
    'fee|demurrage||120.50 USD|worse|||120.50|USD',
    'fee|other||amount not said',
    'hold|customs|pending|hold|worse',
    'hold|freight||hold|worse',
    'last free day|line|2026-11-05|2026-11-03|worse||-2',
    'last free day|service||2026-11-04',
    'last free day|terminal||2026-11-04',
    'milestone|discharge|2026-10-31 13:00|2026-11-01 10:00|worse|22.00',
  ])
  expect(await readLines(THIRD)).toEqual(
    [
      'ETA|port|2026-11-02 00:00||worse',
      'appointment||2026-11-03 08:00|2026-11-03 06:30|better|-1.50',
      'availability||available||worse',
      'fee|demurrage|120.50 USD|90 USD|better|||-30.50|USD',
      'fee|exam|80 USD||better|||-80|USD',
      'hold|customs|hold||better',
      'hold|freight|hold|pending|better',
      'last free day|service|2026-11-04|2026-11-06|better||2',
      'last free day|terminal|2026-11-04|',
      'milestone|pickup at the port||2026-11-03 07:00|better',
      'terminal||WBCT|Everport',
      'vessel||Ever One (renamed)|EVER TWO',
    ].map((line) => line.replace(/\|+$/, '')),
  )
  expect(await readLines(SECOND, 'c2')).toEqual(['ETA|ramp||2026-11-05 12:00 UTC'])
  expect(await readLines(SECOND, 'gone')).toEqual([])
  // As of an instant, later changes are unknown.
  expect(await readLines(THIRD, 'c1', '2026-11-01T00:00:00Z')).toEqual([])
  expect(await readLines(SECOND, 'c1', '2026-11-01T00:00:00Z')).toEqual(await readLines(SECOND))
  expect(
    await scene.read('changes', {
      rest: `where container_id = 'c1' and change = 'availability' order by learned_at limit 1`,
    }),
  ).toMatchSnapshot()
})
