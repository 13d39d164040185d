import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { silentLogger } from '../../../src/base/logger.js'
import type { Column } from '../../../src/source/records/column.js'
import { resources } from '../../../src/source/records/index.js'
import { vesselPositions } from '../../../src/source/records/vessel.js'
import { containerChildren } from '../../../src/warehouse/rows/container-children.js'
import {
  readCatalog,
  type CatalogSchema,
} from '../../../src/extensions/doctor/schema/describe-schema.js'
import { holdsStoredRows } from '../../../src/warehouse/schema/shipped-views.js'
import { storeViews } from '../../../src/extensions/answers/store-views.js'
import { createTestWarehouse, type TestWarehouse } from '../../support/test-warehouse.js'

let opened: TestWarehouse
let catalog: CatalogSchema[] = []

beforeAll(async () => {
  opened = await createTestWarehouse()
  const { signal } = new AbortController()
  await storeViews(opened.warehouse, { logger: silentLogger, signal })
  catalog = await readCatalog(opened.warehouse)
})
afterAll(async () => {
  await opened.drop()
})

/** The columns of a data table with their types, `timestamptz` in short. */
function columnsOf(table: string): Map<string, string> {
  const relation = catalog
    .find(({ name }) => name === 'tracking')
    ?.relations.find(({ name }) => name === table)
  const columns = relation?.columns ?? []
  return new Map(
    columns.map(({ name, type }) => [
      name,
      type.replace('timestamp with time zone', 'timestamptz'),
    ]),
  )
}

function typed(columns: readonly Column[]): [string, string][] {
  return columns.map(({ name, type }) => [name, type])
}

const OWN: readonly [string, string][] = [
  ['_observed_at', 'timestamptz'],
  ['_first_seen_at', 'timestamptz'],
  ['_changed_at', 'timestamptz'],
  ['_fingerprint', 'text'],
  ['_digest', 'text'],
  ['_deleted_at', 'timestamptz'],
  ['_sync_run_id', 'bigint'],
  ['_unmapped', 'jsonb'],
  ['_coercions', 'jsonb'],
]
const VERSION: readonly [string, string][] = [
  ['valid_from', 'timestamptz'],
  ['valid_to', 'timestamptz'],
  ['source', 'text'],
  ['_sync_run_id', 'bigint'],
]

describe('every object of ours says what it is', () => {
  it('as a comment on each schema, table, view and column', () => {
    expect(catalog.map(({ name }) => name)).toEqual([
      'tracking',
      'tracking_analytics',
      'tracking_as_of',
      'tracking_datasync',
      'tracking_stored',
      'tracking_sync',
    ])
    const silent = catalog.flatMap((schema) => [
      ...(schema.comment ? [] : [schema.name]),
      ...schema.relations.flatMap((relation) => {
        const name = `${schema.name}.${relation.name}`
        // Explained where the stored view is.
        const columns = holdsStoredRows(relation.name)
          ? []
          : relation.columns.filter(({ comment }) => !comment)
        return [
          ...(relation.comment ? [] : [name]),
          ...columns.map((column) => `${name}.${column.name}`),
        ]
      }),
    ])
    expect(silent).toEqual([])
  })

  it('with the attribute or relationship that a column of a record comes from', () => {
    const tables = catalog.find(({ name }) => name === 'tracking')?.relations ?? []
    const vague = resources.flatMap(({ stream, attributes, relationships }) => {
      const columns = tables.find(({ name }) => name === stream)?.columns ?? []
      return columns.flatMap(({ name, comment }) => {
        const relationship = [...relationships.keys()].find((one) => name.startsWith(`${one}_`))
        const origin = attributes.has(name)
          ? `attributes.${name}`
          : relationship === undefined
            ? ''
            : `relationships.${relationship}`
        return comment?.includes(origin) ? [] : [`${stream}.${name} does not name ${origin}`]
      })
    })
    expect(vague).toEqual([])
  })
})

describe('the data tables', () => {
  it.each(resources.map((resource) => [resource.stream, resource] as const))(
    '%s has the columns of its resource, with their types, and our own',
    (table, resource) => {
      expect(columnsOf(table)).toEqual(new Map([...typed(resource.columns), ...OWN]))
    },
  )

  it.each(
    resources.flatMap((resource) =>
      resource.historyTable === undefined ? [] : [[resource.historyTable, resource] as const],
    ),
  )('%s has exactly the material columns', (table, { idColumn, columns }) => {
    const material = columns.filter(({ isMaterial }) => isMaterial)
    expect(columnsOf(table)).toEqual(new Map([[idColumn, 'text'], ...VERSION, ...typed(material)]))
  })

  it.each(containerChildren.map((child) => [child.table, child] as const))(
    '%s and its history have the columns of the children',
    (table, { material, immaterial, keyColumn, historyTable }) => {
      const keys = ['container_id', keyColumn]
      const own = OWN.filter(([name]) => /observed|first_seen|sync_run/.test(name))
      const standing = columnsOf(table)
      expect(new Set(standing.keys())).toEqual(
        new Set([...keys, ...material, ...immaterial, ...own.map(([name]) => name)]),
      )
      const history = columnsOf(historyTable)
      expect(new Set(history.keys())).toEqual(
        new Set([...keys, ...material, ...VERSION.map(([name]) => name)]),
      )
      for (const name of material) expect(history.get(name)).toBe(standing.get(name))
    },
  )

  it('vessel_positions has the columns of a position', () => {
    expect(columnsOf('vessel_positions')).toEqual(
      new Map([
        ...typed(vesselPositions.columns),
        ['_first_seen_at', 'timestamptz'],
        ['_sync_run_id', 'bigint'],
      ]),
    )
  })
})

/**
 * Names in the interface, by table: attributes with the type a column must have, then relationships
 * (`*`: of several types; raw events have their own table).
 */
const INTERFACE: Readonly<Record<string, string>> = {
  transport_events: `event text, voyage_number text, timestamp timestamptz, timezone text, location_locode text,
    created_at timestamptz, data_source text, invalidated_at timestamptz
    | shipment, container, location*, vessel, terminal*`,
  shipments: `bill_of_lading_number text, normalized_number text, ref_numbers text[], created_at timestamptz, tags text[],
    port_of_lading_locode text, port_of_lading_name text, port_of_discharge_locode text, port_of_discharge_name text,
    destination_locode text, destination_name text, shipping_line_scac text, shipping_line_name text,
    shipping_line_short_name text, customer_name text, pod_vessel_name text, pod_vessel_imo text, pod_voyage_number text,
    pol_etd_at timestamptz, pol_atd_at timestamptz, pod_eta_at timestamptz, pod_original_eta_at timestamptz,
    pod_ata_at timestamptz, destination_eta_at timestamptz, destination_ata_at timestamptz, pol_timezone text,
    pod_timezone text, destination_timezone text, line_tracking_last_attempted_at timestamptz,
    line_tracking_last_succeeded_at timestamptz, line_tracking_stopped_at timestamptz, line_tracking_stopped_reason text
    | port_of_lading, port_of_discharge, pod_terminal, destination*, destination_terminal*, line_tracking_stopped_by_user,
    container[]`,
  containers: `number text, ref_numbers text[], equipment_type text, equipment_length integer, equipment_height text,
    weight_in_lbs numeric, created_at timestamptz, seal_number text, pickup_lfd timestamptz,
    pickup_appointment_at timestamptz, availability_known boolean, available_for_pickup boolean, pod_arrived_at timestamptz,
    pod_discharged_at timestamptz, pod_full_out_at timestamptz, terminal_checked_at timestamptz,
    pod_full_out_chassis_number text, location_at_pod_terminal text, final_destination_full_out_at timestamptz,
    empty_terminated_at timestamptz, holds_at_pod_terminal jsonb, fees_at_pod_terminal jsonb, pod_timezone text,
    final_destination_timezone text, empty_terminated_timezone text, pod_rail_carrier_scac text, ind_rail_carrier_scac text,
    pod_last_tracking_request_at timestamptz, shipment_last_tracking_request_at timestamptz, pod_rail_loaded_at timestamptz,
    pod_rail_departed_at timestamptz, ind_eta_at timestamptz, ind_ata_at timestamptz, ind_rail_unloaded_at timestamptz,
    ind_facility_lfd_on timestamptz, import_deadlines jsonb, current_status text, pickup_lfd_terminal timestamptz,
    pickup_lfd_rail timestamptz, pickup_lfd_line timestamptz
    | shipment, pickup_facility, pod_terminal, transport_event[]`,
  container_holds: 'name text, status text, description text',
  container_fees: 'type text, amount numeric, currency_code text',
  ports: `name text, code text, state_abbr text, city text, country_code text, time_zone text, latitude numeric,
    longitude numeric`,
  metro_areas: `name text, code text, state_abbr text, country_code text, time_zone text, latitude numeric,
    longitude numeric`,
  terminals: `name text, nickname text, firms_code text, smdg_code text, bic_facility_code text, street text, city text,
    state text, state_abbr text, zip text, country text | port`,
  rail_terminals: 'name text, nickname text, firms_code text | port, metro_area',
  vessels: `name text, imo text, mmsi text, latitude numeric, longitude numeric, nautical_speed_knots numeric,
    navigational_heading_degrees numeric, position_timestamp timestamptz`,
  vessel_positions: `latitude numeric, longitude numeric, heading numeric, position_at timestamptz, is_estimated boolean`,
  tracking_requests: `request_number text, request_type text, scac text, ref_numbers text[], created_at timestamptz,
    updated_at timestamptz, status text, failed_reason text, shipment_tags text[]
    | tracked_object*, customer*`,
  custom_fields:
    'custom_field_id text, api_slug text, value jsonb, display_value text | entity*, definition',
  webhook_event_categories: 'webhook_event_category_id text, name text, events jsonb',
}

it.each(Object.entries(INTERFACE))(
  '%s has a column for every attribute and relationship that the interface names',
  (table, text) => {
    const [attributes = '', relationships = ''] = text.split('|')
    const words = (part: string): string[] =>
      part
        .split(',')
        .map((word) => word.trim())
        .filter((word) => word !== '')
    const wanted = [
      ...words(attributes).map((word) => word.split(' ') as [string, string]),
      ...words(relationships).flatMap((word): [string, string][] => {
        const name = word.replace(/\*|\[\]/, '')
        if (word.endsWith('[]')) return [[`${name}_ids`, 'text[]']]
        const id: [string, string] = [`${name}_id`, 'text']
        return word.endsWith('*') ? [id, [`${name}_type`, 'text']] : [id]
      }),
    ]
    const columns = columnsOf(table)
    const found = wanted.map(([name]) => [name, columns.get(name)])
    expect(found).toEqual(wanted)
  },
)
