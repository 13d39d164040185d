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

export interface AlertDigestsTable {
  digest_on: string
  made_at: string
  opened: number
  closed: number
  open: number
}

export interface AlertMessagesTable {
  message_id: Generated<string>
  channel: string
  event: string
  alert_id: number | null
  digest_on: string | null
  content: unknown
  state: Generated<string>
  attempts: Generated<number>
  created_at: string
  next_attempt_at: string
  claimed_at: string | null
  sent_at: string | null
  error: string | null
}

export interface AlertsTable {
  alert_id: Generated<number>
  kind: string
  alert_key: string
  name: string
  severity: string | null
  sentence: string
  details: unknown
  first_seen_at: string
  seen_at: string
  opened_at: string | null
  closed_at: string | null
  opening_digest_on: string | null
  closing_digest_on: string | null
}

export interface CustomerRolesTable {
  role_name: string
  customer_name: string
}

export interface DeliveryRefusalsTable {
  reason: string
  refused: number
  first_at: Generated<string>
  last_at: Generated<string>
}

export interface DerivationsTable {
  derivation: string
  text_hash: string
  begun_at: Generated<string>
  derived_up_to: string | null
  finished_at: string | null
}

export interface EventListsInDoubtTable {
  container_id: string
  doubted_at: Generated<string>
}

export interface LeaseTable {
  lease_name: string
  holder: string | null
  fencing_token: Generated<number>
  acquired_at: string | null
  heartbeat_at: string | null
}

export interface PassSharesTable {
  table_name: string
  column_name: string
  passed_at: Generated<string>
  records: number
  filled: number
}

export interface RawEventReadsTable {
  container_id: string
  changed_at: string
  event_ids_hash: string | null
  read_at: Generated<string>
}

export interface ReferenceChecksTable {
  resource_type: string
  resource_id: string
  due_at: string
}

export interface RefetchQueueTable {
  resource_type: string
  resource_id: string
  reason: string
  requested_at: Generated<string>
  not_before: string | null
  attempts: Generated<number>
  error: string | null
  generation: Generated<number>
  claimed_until: string | null
  claimed_by: string | null
}

export interface RequestBudgetTable {
  account: string
  requested_at: Generated<string[]>
  sync_requests: Generated<number[]>
  other_requests: Generated<number[]>
  refetch_asked_at: string | null
  paused_until: string | null
}

export interface SourceAccountTable {
  is_only: Generated<boolean>
  address: string
  salt: Buffer
  key_hash: Buffer
  accepted_at: Generated<string>
}

export interface WebhookNotificationsTable {
  notification_id: string
  event: string | null
  webhook_id: string | null
  created_at: string | null
  received_at: Generated<string>
  headers: unknown
  body: Buffer | null
  state: Generated<string>
  attempts: Generated<number>
  next_attempt_at: string | null
  processed_at: string | null
  error: string | null
  observed_at: Generated<string>
  reference_type: string | null
  reference_id: string | null
}

export interface WebhooksTable {
  webhook_id: string
  url: string | null
  is_active: boolean | null
  events: string[] | null
  is_ours: boolean
  checked_at: Generated<string>
  alert: string | null
}

export interface JobsTable {
  account_name: string
  job_name: string
  rhythm: string
  due_at: string
  asked_at: string | null
  worker: string | null
  take_number: Generated<number>
  taken_at: string | null
  seen_at: string | null
  ended_at: string | null
  succeeded_at: string | null
  problem: string | null
  failures: Generated<number>
}

/** The bookkeeping, and the jobs of the schema that accounts share. */
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
  alert_digests: AlertDigestsTable
  alert_messages: AlertMessagesTable
  alerts: AlertsTable
  customer_roles: CustomerRolesTable
  delivery_refusals: DeliveryRefusalsTable
  derivations: DerivationsTable
  event_lists_in_doubt: EventListsInDoubtTable
  jobs: JobsTable
  lease: LeaseTable
  pass_shares: PassSharesTable
  raw_event_reads: RawEventReadsTable
  reference_checks: ReferenceChecksTable
  refetch_queue: RefetchQueueTable
  request_budget: RequestBudgetTable
  source_account: SourceAccountTable
  webhook_notifications: WebhookNotificationsTable
  webhooks: WebhooksTable
}
