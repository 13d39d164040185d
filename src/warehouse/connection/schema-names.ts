import type { HistoryTable, Stream } from '../../source/records/resource.js'

/** The seven schemas of one account, all named after one setting (`TRACKING_SCHEMA`). */
export interface Schemas {
  /** The data tables. */
  readonly data: string
  /** Bookkeeping. */
  readonly sync: string
  readonly analytics: string
  /** Views that those of the analytics schema are made of. */
  readonly parts: string
  /** The views of both a second time, as of an earlier instant. */
  readonly asOf: string
  /** Compatibility views. */
  readonly datasync: string
  /** Stored results of large views. */
  readonly stored: string
}

export type DataTable =
  | Stream
  | HistoryTable
  | 'container_changes'
  | 'container_fee_history'
  | 'container_fees'
  | 'container_hold_history'
  | 'container_holds'
  | 'container_import_deadline_history'
  | 'container_import_deadlines'
  | 'vessel_positions'

const SYNC_TABLES = [
  'absences',
  'access_tokens',
  'alert_digests',
  'alert_messages',
  'alerts',
  'checkpoints',
  'customer_roles',
  'delivery_refusals',
  'derivations',
  'event_lists_in_doubt',
  'installed_views',
  'lease',
  'migrations',
  'pass_positions',
  'pass_shares',
  'quarantine',
  'raw_event_reads',
  'reference_checks',
  'refetch_queue',
  'request_budget',
  'schema_drift',
  'seen_attributes',
  'source_account',
  'source_capabilities',
  'stored_views',
  'sync_run_streams',
  'sync_runs',
  'transport_event_checks',
  'webhook_notifications',
  'webhooks',
] as const

/** Tables of the analytics schema that the user fills. */
export const USERS_TABLES = [
  'dd_invoices',
  'free_time_rules',
  'free_time_tiers',
  'holidays',
  'working_calendars',
] as const

const ANALYTICS_TABLES = [...USERS_TABLES, 'time_zones'] as const

/** Tables of the schema that all accounts share, for workers. */
const ACCOUNTS_TABLES = ['jobs'] as const

export type TableName =
  | (typeof ACCOUNTS_TABLES)[number]
  | DataTable
  | (typeof SYNC_TABLES)[number]
  | (typeof ANALYTICS_TABLES)[number]

const SCHEMA_OF_TABLE: ReadonlyMap<string, keyof Schemas> = new Map([
  ...[...SYNC_TABLES, ...ACCOUNTS_TABLES].map((name) => [name, 'sync'] as const),
  ...ANALYTICS_TABLES.map((name) => [name, 'analytics'] as const),
])

/** The schemas of a warehouse, and the names of their objects as SQL text. */
export class SchemaNames implements Schemas {
  readonly data: string
  readonly sync: string
  readonly analytics: string
  readonly parts: string
  readonly asOf: string
  readonly datasync: string
  readonly stored: string

  /** The settings allow lower-case letters, digits and underscores, at most 50 characters. */
  constructor(base: string) {
    this.data = base
    this.sync = `${base}_sync`
    this.analytics = `${base}_analytics`
    this.parts = `${base}_parts`
    this.asOf = `${base}_as_of`
    this.datasync = `${base}_datasync`
    this.stored = `${base}_stored`
  }

  /** One of our tables: quoted, with its schema. */
  table(name: TableName): string {
    return this.in(SCHEMA_OF_TABLE.get(name) ?? 'data', name)
  }

  /** Another object in one of the schemas, such as a view or a function: quoted. */
  in(schema: keyof Schemas, name: string): string {
    return `${quoteIdentifier(this[schema])}.${quoteIdentifier(name)}`
  }
}

/** Schemas that hold only our views and objects of migrations. */
export function viewSchemas({ analytics, parts, asOf, datasync, stored }: Schemas): string[] {
  return [analytics, parts, asOf, datasync, stored]
}

/** For names from constants and the schema setting. Values from data are parameters. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/**
 * Puts the schema names into a shipped SQL text in place of `{{data}}`, `{{sync}}` and so on.
 * Throws on an unknown placeholder, which is a mistake in that text.
 */
export function withSchemaNames(sqlText: string, names: Schemas): string {
  return sqlText.replace(/\{\{(\w+)\}\}/g, (placeholder, name: string) => {
    if (!Object.hasOwn(names, name)) throw new Error(`unknown placeholder ${placeholder}`)
    return quoteIdentifier(names[name as keyof Schemas])
  })
}

export interface RoleNames {
  /** May read all except raw payloads: enough for `query`, `status` and `check`. */
  readonly reader: string
  /**
   * May write rows, except in tables that the owner acts on; changes no schema. Enough for `sync`
   * and `serve` with TRACKING_MIGRATE=false.
   */
  readonly writer: string
  /** The login of `TRACKING_READER_URL` for own SQL: a member of the readers. */
  readonly login: string
}

/**
 * The roles of one account's schemas: `tracking_reader`, `tracking_writer` and `tracking_query` by
 * default; their prefix is TRACKING_SCHEMA.
 */
export function roleNames(names: SchemaNames): RoleNames {
  const { data } = names
  return { reader: `${data}_reader`, writer: `${data}_writer`, login: `${data}_query` }
}
