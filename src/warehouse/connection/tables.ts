import type { Generated, JSONColumnType } from 'kysely'

/**
 * Kysely's view of the bookkeeping schema. Times are PostgreSQL texts (the pool parses none),
 * counts are numbers.
 */

type Json = JSONColumnType<Record<string, unknown> | null, string | null, string | null>

export interface MigrationsTable {
  version: number
  name: string
  checksum: string
  applied_at: Generated<string>
}

export type RunOutcome = 'running' | 'complete' | 'incomplete' | 'failed' | 'aborted'

export interface SyncRunsTable {
  sync_run_id: Generated<number>
  command: string
  options: Json
  started_at: Generated<string>
  finished_at: string | null
  outcome: Generated<RunOutcome>
  exit_code: number | null
  error_code: string | null
  error_message: string | null
  requests: Generated<number>
  host: string | null
  pid: number | null
  program_version: string | null
}

/** Whether a pass reads a whole list, or what of it can still change. */
export type PassScope = 'whole' | 'changing'

export type StreamOutcome = RunOutcome | 'not_entitled'

export interface SyncRunStreamsTable {
  sync_run_id: number
  stream: string
  pages: Generated<number>
  requests: Generated<number>
  fetched: Generated<number>
  inserted: Generated<number>
  updated: Generated<number>
  unchanged: Generated<number>
  stale: Generated<number>
  duplicate: Generated<number>
  quarantined: Generated<number>
  tombstoned: Generated<number>
  coerced: Generated<number>
  outcome: Generated<StreamOutcome>
  detail: string | null
  started_at: Generated<string>
  finished_at: string | null
  pass_began_at: string | null
  pass_scope: PassScope | null
}

export interface SourceCapabilitiesTable {
  capability: string
  is_supported: boolean
  detail: Json
  checked_at: Generated<string>
}

export interface QuarantineTable {
  quarantine_id: Generated<number>
  stream: string
  resource_type: string | null
  record_id: string | null
  reason: string
  pointer: string
  payload: string
  payload_hash: string
  source: string
  sync_run_id: number | null
  sightings: Generated<number>
  first_seen_at: Generated<string>
  last_seen_at: Generated<string>
}

export interface SchemaDriftTable {
  stream: string
  kind: 'new_attribute' | 'vanished_attribute' | 'new_value' | 'new_type'
  name: string
  detail: string | null
  sync_run_id: number | null
  first_seen_at: Generated<string>
  last_seen_at: Generated<string>
}

export interface SeenAttributesTable {
  stream: string
  attribute: string
  sync_run_id: number | null
  first_seen_at: Generated<string>
}

export interface CheckpointsTable {
  stream: string
  scope: PassScope
  sync_run_id: number | null
  position: Json
  pass_started_at: string | null
  completed_at: string | null
  completed_pass_started_at: string | null
  completed_pass_began_at: string | null
  updated_at: Generated<string>
}

export interface PassPositionsTable {
  stream: string
  scope: PassScope
  sync_run_id: number
  pass_started_at: string
  position: JSONColumnType<Record<string, unknown>>
  updated_at: Generated<string>
}

export interface AbsencesTable {
  stream: string
  row_key: string
  missed_passes: number
  first_missed_at: Generated<string>
  last_missed_at: Generated<string>
  sync_run_id: number | null
  error: string | null
  not_before: string | null
}

export interface InstalledViewsTable {
  schema_name: string
  view_name: string
  position: number
  checksum: string
  installed_at: Generated<string>
}

export interface StoredViewsTable {
  view_name: string
  stored_at: string
  rows: number
  took_ms: number
}

export interface TransportEventChecksTable {
  container_id: string
  checked_at: Generated<string>
}

export interface SyncTables {
  installed_views: InstalledViewsTable
  stored_views: StoredViewsTable
  migrations: MigrationsTable
  sync_runs: SyncRunsTable
  sync_run_streams: SyncRunStreamsTable
  source_capabilities: SourceCapabilitiesTable
  quarantine: QuarantineTable
  schema_drift: SchemaDriftTable
  seen_attributes: SeenAttributesTable
  checkpoints: CheckpointsTable
  pass_positions: PassPositionsTable
  absences: AbsencesTable
  transport_event_checks: TransportEventChecksTable
}
