export interface Room {
  /** What belongs here; shown when a file imports what its room may not. */
  readonly holds: string
  /** Rooms it may import; `*` for all. */
  readonly may: readonly string[]
  /**
   * Packages, and parts of Node that reach out of the process; other parts of Node are free unless
   * the room is pure.
   */
  readonly packages?: readonly string[]
  /** Takes values and returns values: no clock, chance, log, network or file. */
  readonly isPure?: boolean
  /** Only these import it. */
  readonly onlyFor?: readonly string[]
}

/**
 * Who may import whom, from the ground up: a room is a file or a directory of src, or one in it. A
 * directory that is named alone stands for all rooms in it.
 */
export const ROOMS: Readonly<Record<string, Room>> = {
  base: {
    holds: 'what every room may use: errors, logger, retry, schedule',
    may: [],
    packages: ['node:fs', 'node-cron', 'pg', 'pino', 'undici'],
  },
  jsonapi: {
    holds: 'reading JSON:API documents from bytes',
    may: ['base'],
    packages: ['zod'],
    isPure: true,
  },
  resources: {
    holds: 'the records of the service as rows: columns, types, flattening',
    may: ['jsonapi', 'base'],
    packages: ['zod'],
    isPure: true,
  },
  config: {
    holds: 'settings: their kinds, sources and descriptions',
    may: ['base'],
    packages: ['zod', 'node-cron', 'node:fs'],
  },
  http: {
    holds: 'the HTTP server: reading bodies, answering, limits for strangers',
    may: ['base'],
    packages: ['node:http', 'node:net'],
  },
  api: {
    holds: 'requests to the service: client, pages, includes, request budget',
    may: ['jsonapi', 'base'],
    packages: ['undici', 'node:http'],
  },
  'embedded-postgres': {
    holds: 'the PostgreSQL server that comes with the program',
    may: ['base'],
    packages: ['pg', 'node:fs', 'node:net', 'node:child_process', 'node:timers'],
  },
  'warehouse/connection': {
    holds: 'connections, sessions, names, what the server says, answers as tables',
    may: ['resources', 'base'],
    packages: ['pg', 'kysely'],
  },
  'warehouse/bookkeeping': {
    holds: 'what runs leave for the next: checkpoints, absences, queues, quarantine',
    may: ['warehouse/connection', 'resources', 'jsonapi', 'base'],
    packages: ['kysely', 'zod'],
  },
  'warehouse/rows': {
    holds: 'records as rows: recognize, write, history, what is derived of them',
    may: ['warehouse/bookkeeping', 'warehouse/connection', 'resources', 'jsonapi', 'base'],
  },
  'warehouse/schema': {
    holds: 'migrations, views, roles: what makes the schemas and compares them',
    may: ['warehouse/rows', 'warehouse/bookkeeping', 'warehouse/connection', 'resources', 'base'],
    packages: ['kysely', 'pg', 'node:fs'],
  },
  'warehouse/coordination': {
    holds: 'who may write and ask now: lease, request budget, jobs of accounts',
    may: ['warehouse/schema', 'warehouse/connection', 'base'],
  },
  'warehouse/distribute': {
    holds: 'an account whole on a node of Citus',
    may: ['warehouse/schema', 'warehouse/connection', 'base'],
    packages: ['pg'],
  },
  'warehouse/move': {
    holds: 'the embedded warehouse goes to a server',
    may: ['warehouse/schema', 'warehouse/connection', 'resources', 'base'],
  },
  'warehouse/questions': {
    holds: 'shipped questions, rules, invoices, evidence',
    may: ['warehouse/schema', 'warehouse/connection', 'resources', 'base'],
    packages: ['zod', 'csv-parse', 'node:fs'],
  },
  lake: {
    holds: 'the warehouse as Parquet files for other engines',
    may: ['warehouse', 'resources', 'base'],
    packages: ['@duckdb/node-api', '@aws-sdk/client-s3', 'zod', 'node:fs'],
  },
  ingest: {
    holds: 'the way of a record into the warehouse, shared by sync and webhooks',
    may: ['api', 'warehouse', 'resources', 'jsonapi', 'base'],
    packages: ['p-limit'],
  },
  sync: {
    holds: 'the scheduled run, plan and verify',
    may: ['ingest', 'api', 'warehouse', 'resources', 'jsonapi', 'base'],
    packages: ['p-limit'],
  },
  'webhooks/receive': {
    holds: 'deliveries: signature, sender, inbox, their states',
    may: ['http', 'warehouse', 'resources', 'jsonapi', 'base'],
    packages: ['node:http', 'node:net'],
  },
  'webhooks/manage': {
    holds: 'our webhooks at the service: create, check, test, reconcile with the inbox',
    may: ['webhooks/receive', 'http', 'api', 'warehouse', 'resources', 'jsonapi', 'base'],
    packages: ['node:http', 'node:timers'],
  },
  'webhooks/process': {
    holds: 'notifications as rows, in the order in which they are true',
    may: [
      'webhooks/manage',
      'webhooks/receive',
      'ingest',
      'api',
      'warehouse',
      'resources',
      'jsonapi',
      'base',
    ],
    packages: ['node:timers'],
  },
  status: {
    holds: 'what is to be known about the running thing',
    may: ['webhooks', 'warehouse', 'resources', 'base'],
  },
  alerts: {
    holds: 'what goes out to people: which alerts are open, their messages and channels',
    may: ['status', 'warehouse', 'base'],
    packages: ['undici', 'nodemailer'],
  },
  dashboard: {
    holds: 'the page of pictures: what each shows, how it is drawn, its routes',
    may: ['status', 'http', 'warehouse', 'base'],
    packages: ['@observablehq/plot', 'linkedom', 'p-limit', 'node:http'],
  },
  serve: {
    holds: 'the long-running process: its parts, routes, metrics and jobs',
    may: [
      'alerts',
      'dashboard',
      'status',
      'webhooks',
      'sync',
      'ingest',
      'http',
      'warehouse',
      'api',
      'config',
      'base',
    ],
    packages: ['prom-client', 'node:http', 'node:perf_hooks'],
  },
  simulator: {
    holds: 'the simulated service, a product of its own',
    may: ['jsonapi'],
    packages: ['node:http', 'node:https', 'node:net', 'node:timers'],
    onlyFor: ['commands'],
  },
  extensions: {
    holds: 'what is called at points that the core leaves open',
    may: ['*'],
    onlyFor: ['app', 'commands'],
  },
  app: {
    holds: 'the one place where the parts are put together',
    may: ['*'],
    packages: ['node:fs'],
    onlyFor: ['commands', 'cli'],
  },
  commands: {
    holds: 'the command line: flags, wording, exit codes',
    may: ['*'],
    packages: ['commander', 'ical-generator', 'write-excel-file', 'node:fs', 'node:child_process'],
    onlyFor: ['cli'],
  },
  cli: { holds: 'the first file of the program', may: ['commands', 'app', 'base'], onlyFor: [] },
}
