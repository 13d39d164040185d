import type { Generated } from 'kysely'
import type * as records from '../../source/records/index.js'
import type { HistoryRowOf, RowOf, Version } from '../../source/records/row-types.js'

/** A row that is derived from a container. */
interface ChildRow {
  container_id: string
  place: Generated<string>
  _observed_at: string
  _first_seen_at: string
  _sync_run_id: number | null
}

interface ChildVersion extends Version {
  container_id: string
  place: Generated<string>
}

/** Tables of the resources, of their versions, and of the rows derived from containers. */
export interface DataTables {
  containers: RowOf<typeof records.containers>
  custom_field_definitions: RowOf<typeof records.customFieldDefinitions>
  custom_field_options: RowOf<typeof records.customFieldOptions>
  custom_fields: RowOf<typeof records.customFields>
  metro_areas: RowOf<typeof records.metroAreas>
  other_resources: RowOf<typeof records.otherResources>
  ports: RowOf<typeof records.ports>
  rail_terminals: RowOf<typeof records.railTerminals>
  raw_events: RowOf<typeof records.rawEvents>
  shipments: RowOf<typeof records.shipments>
  terminals: RowOf<typeof records.terminals>
  tracking_requests: RowOf<typeof records.trackingRequests>
  transport_events: RowOf<typeof records.transportEvents>
  vessels: RowOf<typeof records.vessels>
  webhook_event_categories: RowOf<typeof records.webhookEventCategories>
  container_history: HistoryRowOf<typeof records.containers>
  shipment_history: HistoryRowOf<typeof records.shipments>
  container_changes: {
    container_id: string
    change_id: string
    attribute: string
    changed_at: string
    old_value: unknown
    new_value: unknown
    data_source: string | null
    timezone: string | null
    _observed_at: string
    _notification_id: string
  }
  container_fee_history: ChildVersion & {
    fee_key: string
    type: string | null
    amount: string | null
    currency_code: string | null
    description: string | null
  }
  container_fees: ChildRow & {
    fee_key: string
    type: string | null
    amount: string | null
    currency_code: string | null
    description: string | null
    is_total: boolean
    position: number | null
    _unmapped: unknown
    _coercions: unknown
  }
  container_hold_history: ChildVersion & {
    hold_key: string
    name: string | null
    status: string | null
    description: string | null
    detail: string | null
  }
  container_holds: ChildRow & {
    hold_key: string
    name: string | null
    status: string | null
    description: string | null
    detail: string | null
    position: number | null
    _unmapped: unknown
    _coercions: unknown
  }
  container_import_deadline_history: ChildVersion & {
    kind: string
    deadline_at: string | null
    time_zone: string | null
    local_date: string | null
  }
  container_import_deadlines: ChildRow & {
    kind: string
    deadline_at: string | null
    time_zone: string | null
    local_date: string | null
    is_zone_known: boolean
    details: unknown
  }
  vessel_positions: {
    vessel_id: string
    position_at: string
    latitude: string | null
    longitude: string | null
    heading: string | null
    is_estimated: boolean | null
    _first_seen_at: string
    _sync_run_id: number | null
  }
}

/** The zones that PostgreSQL knows; the answers add the tables that users fill. */
export interface AnalyticsTables {
  time_zones: {
    name: string
  }
}
