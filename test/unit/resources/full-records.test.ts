import { describe, expect, test } from 'vitest'
import { resources } from '../../../src/source/records/index.js'
import { flatten, type JsonObject } from './flat-rows.js'

const to = (type: string, id: string) => ({ data: { type, id } })
const at = (day: number) => `2026-03-${String(day).padStart(2, '0')}T08:00:00Z`

interface FullRecord {
  readonly stream: string
  readonly record: JsonObject
  /** Every column of the table that comes from the record, as PostgreSQL reads it. */
  readonly columns: JsonObject
}

const shipmentTimes = {
  created_at: at(1),
  pol_etd_at: at(2),
  pol_original_etd_at: at(12),
  pol_atd_at: at(3),
  pod_eta_at: at(4),
  pod_original_eta_at: at(5),
  pod_ata_at: at(6),
  destination_eta_at: at(7),
  destination_original_eta_at: at(13),
  destination_ata_at: at(8),
  line_tracking_last_attempted_at: at(9),
  line_tracking_last_succeeded_at: at(10),
  line_tracking_stopped_at: at(11),
}

const shipmentTexts = {
  bill_of_lading_number: 'MEDUFR030802',
  normalized_number: '030802',
  port_of_lading_locode: 'CNSHA',
  port_of_lading_name: 'Shanghai',
  port_of_discharge_locode: 'USLAX',
  port_of_discharge_name: 'Los Angeles',
  destination_locode: 'USCHI',
  destination_name: 'Chicago',
  shipping_line_scac: 'MSCU',
  shipping_line_name: 'Mediterranean Shipping Company',
  shipping_line_short_name: 'MSC',
  customer_name: 'Acme Imports LLC',
  pod_vessel_name: 'TONGALA',
  pod_vessel_imo: '9278105',
  pod_voyage_number: '132/E',
  pol_timezone: 'Asia/Shanghai',
  pod_timezone: 'America/Los_Angeles',
  destination_timezone: 'America/Chicago',
  line_tracking_stopped_reason: 'cancelled_by_user',
}

const rawEvent = {
  event: 'vessel_arrived',
  original_event: 'Vessel arrival',
  voyage_number: '132/E',
  location_name: 'Los Angeles',
  location_locode: 'USLAX',
  vessel_name: 'TONGALA',
  vessel_imo: '9278105',
  timezone: 'America/Los_Angeles',
  timestamp: at(1),
  actual_at: at(2),
  estimated_at: at(3),
  created_at: at(4),
  actual_on: '2026-03-02',
  estimated_on: '2026-03-03',
  estimated: true,
  index: 4,
}

const containerTimes = {
  created_at: at(1),
  pickup_lfd: at(2),
  ssl_lfd: at(21),
  empty_out_at: at(22),
  pol_full_in_at: at(23),
  pol_vessel_loaded_at: at(24),
  pol_vessel_departed_at: at(25),
  delivered_at: at(26),
  rail_last_tracking_request_at: at(27),
  pickup_appointment_at: at(3),
  pod_arrived_at: at(4),
  pod_discharged_at: at(5),
  pod_full_out_at: at(6),
  terminal_checked_at: at(7),
  final_destination_full_out_at: at(8),
  empty_terminated_at: at(9),
  pod_last_tracking_request_at: at(10),
  shipment_last_tracking_request_at: at(11),
  pod_rail_loaded_at: at(12),
  pod_rail_departed_at: at(13),
  ind_eta_at: at(14),
  ind_ata_at: at(15),
  ind_rail_unloaded_at: at(16),
  ind_facility_lfd_on: at(17),
}

const containerTexts = {
  number: 'TGHU6578122',
  equipment_type: 'flat rack',
  equipment_height: 'high_cube',
  seal_number: '22626037',
  pod_full_out_chassis_number: 'DCLZ412345',
  location_at_pod_terminal: 'Yard Grounded (G90402B1)',
  pod_timezone: 'America/Los_Angeles',
  final_destination_timezone: 'America/Chicago',
  empty_terminated_timezone: 'America/Detroit',
  pod_rail_carrier_scac: 'BNSF',
  ind_rail_carrier_scac: 'CSXT',
  current_status: 'awaiting_inland_transfer',
}

const deadlines = {
  pickup_lfd_terminal: at(18),
  pickup_lfd_rail: at(19),
  pickup_lfd_line: at(20),
}

const sources = {
  'pickup_lfd_line.original': { at: at(20), place: 'port' },
  'pickup_lfd_line.calculated': { on: '2026-03-22', place: 'port', details: { free_days: 4 } },
}
const manyDeadlines = {
  ...deadlines,
  pickup_lfd_line: {
    original: at(20),
    current: at(20),
    calculated: { date: '2026-03-22', free_days: 4 },
  },
}

const hold = { name: 'customs', status: 'hold', description: 'X-ray', detail: 'At CES' }
const fee = { type: 'demurrage', amount: 850.5, currency_code: 'USD' }
const inlandHold = { name: 'freight', status: 'pending', description: null }
const inlandFee = { amount: 75, description: 'Storage' }

const place = {
  name: 'Hamburg',
  code: 'DEHAM',
  state_abbr: 'HH',
  country_code: 'DE',
  time_zone: 'Europe/Berlin',
}

const marineTerminal = {
  name: 'Virginia International Gateway',
  nickname: 'VIG',
  firms_code: 'N195',
  smdg_code: 'VIG',
  bic_facility_code: 'USORFUNYS',
  street: '1000 Gateway Blvd',
  city: 'Portsmouth',
  state: 'Virginia',
  state_abbr: 'VA',
  zip: '23703-2361',
  country: 'United States',
  facility_type: 'ocean_terminal',
}
const provided = { pickup_lfd: true, pickup_lfd_notes: '' }

const trackingRequest = {
  request_number: 'MEDUFR030802',
  request_type: 'bill_of_lading',
  scac: 'MSCU',
  created_at: at(1),
  updated_at: at(2),
  status: 'created',
  failed_reason: 'not_found',
}

const transportEvent = {
  event: 'container.transport.estimated.vessel_arrived',
  voyage_number: '132/E',
  timestamp: at(1),
  timezone: 'Asia/Shanghai',
  location_locode: 'CNSHA',
  created_at: at(2),
  data_source: 'shipping_line',
  invalidated_at: at(3),
  value: at(4),
  value_timestamp: at(4),
}

const catalogueEvents = [{ name: 'tracking_request.succeeded', description: 'Shipment created.' }]

const fullRecords: readonly FullRecord[] = [
  {
    stream: 'shipments',
    record: {
      id: 's-1',
      type: 'shipment',
      attributes: {
        ...shipmentTexts,
        ...shipmentTimes,
        ref_numbers: ['REF-1', 'a "b", {c}'],
        tags: [],
      },
      relationships: {
        port_of_lading: to('port', 'p-1'),
        port_of_discharge: to('port', 'p-2'),
        pod_terminal: to('terminal', 't-1'),
        destination: to('metro_area', 'm-1'),
        destination_terminal: to('rail_terminal', 'r-1'),
        line_tracking_stopped_by_user: to('user', 'u-1'),
        containers: {
          data: [
            { type: 'container', id: 'c-2' },
            { type: 'container', id: 'c-1' },
          ],
        },
      },
      links: { self: '/v2/shipments/s-1' },
    },
    columns: {
      shipment_id: 's-1',
      ...shipmentTexts,
      ...shipmentTimes,
      ref_numbers: '{"REF-1","a \\"b\\", {c}"}',
      tags: '{}',
      port_of_lading_id: 'p-1',
      port_of_discharge_id: 'p-2',
      pod_terminal_id: 't-1',
      destination_id: 'm-1',
      destination_type: 'metro_area',
      destination_terminal_id: 'r-1',
      destination_terminal_type: 'rail_terminal',
      line_tracking_stopped_by_user_id: 'u-1',
      container_ids: '{"c-1","c-2"}',
    },
  },
  {
    stream: 'containers',
    record: {
      id: 'c-1',
      type: 'container',
      attributes: {
        ...containerTexts,
        ...containerTimes,
        ref_numbers: ['REF-2'],
        equipment_length: 45,
        weight_in_lbs: 53502.75,
        availability_known: true,
        available_for_pickup: false,
        holds_at_pod_terminal: [hold],
        fees_at_pod_terminal: [fee],
        ind_facility_holds: [inlandHold],
        ind_facility_fees: [inlandFee],
        import_deadlines: manyDeadlines,
      },
      relationships: {
        shipment: to('shipment', 's-1'),
        pickup_facility: to('terminal', 't-2'),
        pod_terminal: to('terminal', 't-1'),
        transport_events: {
          data: [
            { type: 'transport_event', id: 'e-2' },
            { type: 'transport_event', id: 'e-1' },
          ],
        },
        raw_events: { data: [] },
      },
    },
    columns: {
      container_id: 'c-1',
      ...containerTexts,
      ...containerTimes,
      ...deadlines,
      ref_numbers: '{"REF-2"}',
      equipment_length: '45',
      weight_in_lbs: '53502.75',
      availability_known: 'true',
      available_for_pickup: 'false',
      holds_at_pod_terminal: JSON.stringify([hold]),
      fees_at_pod_terminal: JSON.stringify([fee]),
      ind_facility_holds: JSON.stringify([inlandHold]),
      ind_facility_fees: JSON.stringify([inlandFee]),
      import_deadlines: JSON.stringify(manyDeadlines),
      import_deadline_sources: JSON.stringify({
        'pickup_lfd_line.original': sources['pickup_lfd_line.original'],
        'pickup_lfd_line.current': { at: at(20), place: 'port' },
        'pickup_lfd_line.calculated': sources['pickup_lfd_line.calculated'],
      }),
      shipment_id: 's-1',
      pickup_facility_id: 't-2',
      pod_terminal_id: 't-1',
      transport_event_ids: '{"e-1","e-2"}',
    },
  },
  {
    stream: 'transport_events',
    record: {
      id: 'e-1',
      type: 'transport_event',
      attributes: transportEvent,
      relationships: {
        shipment: to('shipment', 's-1'),
        container: to('container', 'c-1'),
        location: to('metro_area', 'm-1'),
        vessel: to('vessel', 'v-1'),
        terminal: to('rail_terminal', 'r-1'),
        source_event: to('raw_event', 'w-1'),
        previous_version: to('transport_event', 'e-0'),
      },
    },
    columns: {
      container_id: 'c-1',
      transport_event_id: 'e-1',
      ...transportEvent,
      shipment_id: 's-1',
      location_id: 'm-1',
      location_type: 'metro_area',
      vessel_id: 'v-1',
      terminal_id: 'r-1',
      terminal_type: 'rail_terminal',
      source_event_id: 'w-1',
      previous_version_id: 'e-0',
      is_estimated: 'true',
    },
  },
  {
    stream: 'tracking_requests',
    record: {
      id: 'q-1',
      type: 'tracking_request',
      attributes: {
        ...trackingRequest,
        ref_numbers: ['A'],
        tags: ['spring'],
        shipment_tags: ['winter'],
        is_retrying: true,
        retry_count: 3,
      },
      relationships: {
        tracked_object: to('shipment', 's-1'),
        customer: to('party', 'k-1'),
        user: to('user', 'u-1'),
      },
      links: { self: '/v2/tracking_requests/q-1' },
    },
    columns: {
      tracking_request_id: 'q-1',
      ...trackingRequest,
      ref_numbers: '{"A"}',
      tracked_object_id: 's-1',
      tracked_object_type: 'shipment',
      tags: '{"spring"}',
      shipment_tags: '{"winter"}',
      is_retrying: 'true',
      retry_count: '3',
      user_id: 'u-1',
      customer_id: 'k-1',
      customer_type: 'party',
    },
  },
  {
    stream: 'ports',
    record: {
      id: 'p-1',
      type: 'port',
      attributes: {
        id: 'p-1',
        ...place,
        city: 'Hamburg',
        latitude: '53.530404621',
        longitude: 9.905771237,
      },
      relationships: { terminals: { data: [{ type: 'terminal', id: 't-1' }] } },
    },
    columns: {
      port_id: 'p-1',
      ...place,
      city: 'Hamburg',
      latitude: '53.530404621',
      longitude: '9.905771237',
      terminal_ids: '{"t-1"}',
    },
  },
  {
    stream: 'metro_areas',
    record: {
      id: 'm-1',
      type: 'metro_area',
      attributes: { ...place, latitude: -53.5, longitude: '-9' },
    },
    columns: { metro_area_id: 'm-1', ...place, latitude: '-53.5', longitude: '-9' },
  },
  {
    stream: 'terminals',
    record: {
      id: 't-1',
      type: 'terminal',
      attributes: { ...marineTerminal, provided_data: provided },
      relationships: { port: to('port', 'p-1') },
    },
    columns: {
      terminal_id: 't-1',
      ...marineTerminal,
      provided_data: JSON.stringify(provided),
      port_id: 'p-1',
    },
  },
  {
    stream: 'rail_terminals',
    record: {
      id: 'r-1',
      type: 'rail_terminal',
      attributes: {
        name: 'Corwith',
        nickname: 'BNSF Corwith',
        firms_code: 'H572',
        city: 'Chicago',
      },
      relationships: { port: to('port', 'p-1'), metro_area: to('metro_area', 'm-1') },
    },
    columns: {
      rail_terminal_id: 'r-1',
      name: 'Corwith',
      nickname: 'BNSF Corwith',
      firms_code: 'H572',
      city: 'Chicago',
      port_id: 'p-1',
      metro_area_id: 'm-1',
    },
  },
  {
    stream: 'vessels',
    record: {
      id: 'v-1',
      type: 'vessel',
      attributes: {
        name: 'SEASPAN SAIGON',
        imo: '9301809',
        mmsi: '563281100',
        latitude: 36.543893333,
        longitude: -75.035903333,
        nautical_speed_knots: 13,
        navigational_heading_degrees: 270,
        position_timestamp: at(1),
      },
    },
    columns: {
      vessel_id: 'v-1',
      name: 'SEASPAN SAIGON',
      imo: '9301809',
      mmsi: '563281100',
      latitude: '36.543893333',
      longitude: '-75.035903333',
      nautical_speed_knots: '13',
      navigational_heading_degrees: '270',
      position_timestamp: at(1),
    },
  },
  {
    stream: 'custom_fields',
    record: {
      id: 'f-1',
      type: 'custom_field',
      attributes: { api_slug: 'po_number', value: { a: [1] }, display_value: 'PO 1' },
      relationships: {
        entity: to('container', 'c-1'),
        definition: to('custom_field_definition', 'd-1'),
      },
    },
    columns: {
      custom_field_id: 'f-1',
      api_slug: 'po_number',
      value: '{"a":[1]}',
      display_value: 'PO 1',
      entity_id: 'c-1',
      entity_type: 'container',
      definition_id: 'd-1',
      data_type: null,
      value_text: null,
      value_number: null,
      value_date: null,
      value_timestamp: null,
      value_boolean: null,
      value_list: null,
    },
  },
  {
    stream: 'custom_field_definitions',
    record: {
      id: 'd-1',
      type: 'custom_field_definition',
      attributes: {
        entity_type: 'Container',
        api_slug: 'po_number',
        display_name: 'PO number',
        data_type: 'short_text',
        description: 'Of the buyer.',
        reference_type: 'party',
        default_format: '0.00',
        validation: { max: 3 },
        default_value: ['PO 1'],
        sensitive: false,
      },
    },
    columns: {
      custom_field_definition_id: 'd-1',
      entity_type: 'Container',
      api_slug: 'po_number',
      display_name: 'PO number',
      data_type: 'short_text',
      description: 'Of the buyer.',
      reference_type: 'party',
      default_format: '0.00',
      validation: '{"max":3}',
      default_value: '["PO 1"]',
      sensitive: 'false',
    },
  },
  {
    stream: 'custom_field_options',
    record: {
      id: 'o-1',
      type: 'custom_field_option',
      attributes: { label: 'High', value: 'high', position: 1 },
      relationships: { definition: to('custom_field_definition', 'd-1') },
    },
    columns: {
      custom_field_option_id: 'o-1',
      label: 'High',
      value: '"high"',
      position: '1',
      definition_id: 'd-1',
    },
  },
  {
    stream: 'raw_events',
    record: {
      id: 'raw-1',
      type: 'raw_event',
      attributes: rawEvent,
      relationships: { location: to('port', 'p-1'), vessel: to('vessel', 'v-1') },
    },
    columns: {
      raw_event_id: 'raw-1',
      ...rawEvent,
      estimated: 'true',
      index: '4',
      attributes: JSON.stringify(rawEvent),
      location_id: 'p-1',
      location_type: 'port',
      vessel_id: 'v-1',
    },
  },
  {
    stream: 'webhook_event_categories',
    record: {
      id: 'tracking-request-events',
      type: 'webhook_event_category',
      attributes: { name: 'Tracking Request Events', events: catalogueEvents },
    },
    columns: {
      webhook_event_category_id: 'tracking-request-events',
      name: 'Tracking Request Events',
      events: JSON.stringify(catalogueEvents),
    },
  },
]

describe('a full record of every resource type', () => {
  test.each(fullRecords)(
    '$stream: fills every column and leaves nothing over',
    ({ stream, record, columns }) => {
      const row = flatten(record)
      expect(row.stream).toBe(stream)
      expect(row.columns).toEqual(columns)
      // Only the address of the request tells the container of a raw event.
      const own = { ...row.columns, ...(stream === 'raw_events' ? { container_id: 'c-1' } : {}) }
      expect(Object.values(own)).not.toContain(undefined)
      expect(row.unmapped).toEqual({})
      expect(row.coercions).toEqual({})
    },
  )

  test('every stream but the one for other types has a full record here', () => {
    const covered = fullRecords.map(({ stream }) => stream).sort()
    const streams = resources
      .map(({ stream }) => stream)
      .filter((name) => name !== 'other_resources')
    expect(covered).toEqual(streams.sort())
  })

  test('the key is the id; where a record belongs to another one, that one comes first', () => {
    const keys = fullRecords.map(({ record }) => flatten(record).flat.key)
    expect(keys).toEqual([
      's-1',
      'c-1',
      'c-1 e-1',
      'q-1',
      'p-1',
      'm-1',
      't-1',
      'r-1',
      'v-1',
      'f-1',
      'd-1',
      'o-1',
      'raw-1',
      'tracking-request-events',
    ])
  })

  test('a record names the ports, terminals and vessels that it points to', () => {
    const references = fullRecords.map(({ record }) =>
      flatten(record).flat.references.map(({ type, id }) => `${type} ${id}`),
    )
    expect(references.slice(0, 3)).toEqual([
      ['port p-1', 'port p-2', 'terminal t-1', 'metro_area m-1', 'rail_terminal r-1'],
      ['terminal t-2', 'terminal t-1'],
      ['metro_area m-1', 'vessel v-1', 'rail_terminal r-1'],
    ])
  })
})

describe('types of columns', () => {
  const columns = resources.flatMap(({ stream, columns: list }) =>
    list.map(({ name, type }) => ({ name: `${stream}.${name}`, type })),
  )
  const typed = (type: string): string[] =>
    columns
      .filter((column) => column.type === type)
      .map(({ name }) => name)
      .sort()

  test('every date-time of the interface is a timestamptz, and nothing else is', () => {
    const dateTimes = [
      ...Object.keys(shipmentTimes).map((name) => `shipments.${name}`),
      ...Object.keys({ ...containerTimes, ...deadlines }).map((name) => `containers.${name}`),
      'custom_fields.value_timestamp',
      'raw_events.actual_at',
      'raw_events.created_at',
      'raw_events.estimated_at',
      'raw_events.timestamp',
      'tracking_requests.created_at',
      'tracking_requests.updated_at',
      'transport_events.created_at',
      'transport_events.timestamp',
      'transport_events.invalidated_at',
      'transport_events.value_timestamp',
      'vessels.position_timestamp',
    ]
    expect(typed('timestamptz')).toEqual(dateTimes.sort())
  })

  test('numbers are exact, booleans are booleans, lists of texts are lists, the rest is text', () => {
    expect(typed('numeric')).toEqual([
      'containers.weight_in_lbs',
      'custom_fields.value_number',
      'metro_areas.latitude',
      'metro_areas.longitude',
      'ports.latitude',
      'ports.longitude',
      'vessels.latitude',
      'vessels.longitude',
      'vessels.nautical_speed_knots',
      'vessels.navigational_heading_degrees',
    ])
    expect(typed('integer')).toEqual([
      'containers.equipment_length',
      'custom_field_options.position',
      'raw_events.index',
      'tracking_requests.retry_count',
    ])
    expect(typed('boolean')).toEqual([
      'containers.availability_known',
      'containers.available_for_pickup',
      'custom_field_definitions.sensitive',
      'custom_fields.value_boolean',
      'raw_events.estimated',
      'tracking_requests.is_retrying',
      'transport_events.is_estimated',
    ])
    expect(typed('text[]')).toEqual([
      'containers.ref_numbers',
      'containers.transport_event_ids',
      'custom_fields.value_list',
      'ports.terminal_ids',
      'shipments.container_ids',
      'shipments.ref_numbers',
      'shipments.tags',
      'tracking_requests.ref_numbers',
      'tracking_requests.shipment_tags',
      'tracking_requests.tags',
    ])
    expect(typed('jsonb')).toEqual([
      'containers.fees_at_pod_terminal',
      'containers.holds_at_pod_terminal',
      'containers.import_deadline_sources',
      'containers.import_deadlines',
      'containers.ind_facility_fees',
      'containers.ind_facility_holds',
      'custom_field_definitions.default_value',
      'custom_field_definitions.validation',
      'custom_field_options.value',
      'custom_fields.value',
      'raw_events.attributes',
      'terminals.provided_data',
      'webhook_event_categories.events',
    ])
    expect(typed('date')).toEqual([
      'custom_fields.value_date',
      'raw_events.actual_on',
      'raw_events.estimated_on',
    ])
  })
})

describe('what marks a change as material', () => {
  test('times of checking, positions of vessels and lists of ids are kept up to date without making a version', () => {
    const immaterial = resources
      .flatMap(({ stream, columns, keyColumns, idColumn }) =>
        columns
          .filter(
            ({ name, isMaterial }) =>
              !isMaterial && !keyColumns.includes(name) && name !== idColumn,
          )
          .map(({ name }) => `${stream}.${name}`),
      )
      .sort()
    expect(immaterial).toEqual([
      'containers.pod_last_tracking_request_at',
      'containers.rail_last_tracking_request_at',
      'containers.shipment_last_tracking_request_at',
      'containers.terminal_checked_at',
      'containers.transport_event_ids',
      'custom_fields.data_type',
      'custom_fields.value_boolean',
      'custom_fields.value_date',
      'custom_fields.value_list',
      'custom_fields.value_number',
      'custom_fields.value_text',
      'custom_fields.value_timestamp',
      'ports.terminal_ids',
      'shipments.container_ids',
      'shipments.line_tracking_last_attempted_at',
      'shipments.line_tracking_last_succeeded_at',
      'tracking_requests.retry_count',
      'vessels.latitude',
      'vessels.longitude',
      'vessels.nautical_speed_knots',
      'vessels.navigational_heading_degrees',
      'vessels.position_timestamp',
    ])
  })
})

describe('transport events', () => {
  const event = (attributes: JsonObject, relationships: JsonObject = {}): JsonObject => ({
    id: 'e-1',
    type: 'transport_event',
    attributes,
    relationships,
  })

  test.each([
    ['container.transport.estimated.vessel_arrived', 'true'],
    ['container.transport.vessel_arrived', 'false'],
    ['container.something.estimated.new', 'true'],
    [null, null],
    [17, null],
  ])('%s: is_estimated is %s', (name, isEstimated) => {
    const row = flatten(event({ event: name }, { container: to('container', 'c-1') }))
    expect(row.columns.is_estimated).toBe(isEstimated)
  })

  test('one without a name says nothing on being estimated', () => {
    const row = flatten(event({}, { container: to('container', 'c-1') }))
    expect(row.columns.is_estimated).toBeUndefined()
  })

  test.each([
    ['no relationships', {}],
    ['a null container', { container: { data: null } }],
    ['a relationship without data', { container: { links: { related: '/v2/containers/c-9' } } }],
  ])('with %s takes its container from the request', (_what, relationships) => {
    const row = flatten(event(transportEvent, relationships), { containerId: 'c-9' })
    expect(row.flat.key).toBe('c-9 e-1')
    expect(row.columns.container_id).toBe('c-9')
  })

  test("the record's own container stands above the one of the request", () => {
    const own = event(transportEvent, { container: to('container', 'c-1') })
    expect(flatten(own, { containerId: 'c-9' }).columns.container_id).toBe('c-1')
  })

  test('a container included with the transport events of another one keeps its own id', () => {
    const included = { id: 'c-1', type: 'container', attributes: { number: 'TGHU6578122' } }
    expect(flatten(included, { containerId: 'c-9' }).columns.container_id).toBe('c-1')
  })
})
