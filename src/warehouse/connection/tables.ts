import type { Generated, JSONColumnType } from 'kysely'

/**
 * Kysely's view of the bookkeeping schema. Times are PostgreSQL texts (the pool parses none),
 * counts are numbers.
 */

type Json = JSONColumnType<Record<string, unknown> | null, string | null, string | null>

export type RunOutcome = 'running' | 'complete' | 'incomplete' | 'failed' | 'aborted'

/** Whether a pass reads a whole list, or what of it can still change. */
export type PassScope = 'whole' | 'changing'

export type StreamOutcome = RunOutcome | 'not_entitled'

/** The bookkeeping, and the jobs of the schema that accounts share. */
export interface SyncTables {
  installed_views: {
    schema_name: string
    view_name: string
    position: number
    checksum: string
    installed_at: Generated<string>
  }
  stored_views: {
    view_name: string
    stored_at: string
    rows: number
    took_ms: number
  }
  migrations: {
    version: number
    name: string
    checksum: string
    applied_at: Generated<string>
  }
  sync_runs: {
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
  sync_run_streams: {
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
  source_capabilities: {
    capability: string
    is_supported: boolean
    detail: Json
    checked_at: Generated<string>
  }
  quarantine: {
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
  schema_drift: {
    stream: string
    kind: 'new_attribute' | 'vanished_attribute' | 'new_value' | 'new_type'
    name: string
    detail: string | null
    sync_run_id: number | null
    first_seen_at: Generated<string>
    last_seen_at: Generated<string>
  }
  seen_attributes: {
    stream: string
    attribute: string
    sync_run_id: number | null
    first_seen_at: Generated<string>
  }
  checkpoints: {
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
  pass_positions: {
    stream: string
    scope: PassScope
    sync_run_id: number
    pass_started_at: string
    position: JSONColumnType<Record<string, unknown>>
    updated_at: Generated<string>
  }
  absences: {
    stream: string
    row_key: string
    missed_passes: number
    first_missed_at: Generated<string>
    last_missed_at: Generated<string>
    sync_run_id: number | null
    error: string | null
    not_before: string | null
  }
  transport_event_checks: {
    container_id: string
    checked_at: Generated<string>
  }
  alert_digests: {
    digest_on: string
    made_at: string
    opened: number
    closed: number
    open: number
  }
  alert_messages: {
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
  alerts: {
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
  access_tokens: {
    token_id: string
    name: string
    secret_hash: Buffer
    questions: readonly string[]
    customer_names: readonly string[] | null
    created_at: Generated<string>
    expires_at: string
    revoked_at: string | null
    uses: Generated<number>
    last_used_at: string | null
  }
  customer_roles: {
    role_name: string
    customer_name: string
  }
  delivery_refusals: {
    reason: string
    refused: number
    first_at: Generated<string>
    last_at: Generated<string>
  }
  derivations: {
    derivation: string
    text_hash: string
    begun_at: Generated<string>
    derived_up_to: string | null
    finished_at: string | null
  }
  event_lists_in_doubt: {
    container_id: string
    doubted_at: Generated<string>
  }
  jobs: {
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
  lease: {
    lease_name: string
    holder: string | null
    fencing_token: Generated<number>
    acquired_at: string | null
    heartbeat_at: string | null
  }
  pass_shares: {
    table_name: string
    column_name: string
    passed_at: Generated<string>
    records: number
    filled: number
  }
  raw_event_reads: {
    container_id: string
    changed_at: string
    event_ids_hash: string | null
    read_at: Generated<string>
  }
  reference_checks: {
    resource_type: string
    resource_id: string
    due_at: string
  }
  refetch_queue: {
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
  request_budget: {
    account: string
    requested_at: Generated<string[]>
    sync_requests: Generated<number[]>
    other_requests: Generated<number[]>
    refetch_asked_at: string | null
    paused_until: string | null
  }
  source_account: {
    is_only: Generated<boolean>
    address: string
    salt: Buffer
    key_hash: Buffer
    accepted_at: Generated<string>
  }
  webhook_notifications: {
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
  webhooks: {
    webhook_id: string
    url: string | null
    is_active: boolean | null
    events: string[] | null
    is_ours: boolean
    checked_at: Generated<string>
    alert: string | null
  }
}
