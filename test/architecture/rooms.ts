export interface Room {
  /** Contents of the room; shown when a file imports something that its room may not. */
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

/** A room as it is written below, with its lists as words. */
type WrittenRoom = Omit<Room, 'may' | 'packages' | 'onlyFor'> &
  Readonly<Record<'may', string> & Partial<Record<'packages' | 'onlyFor', string>>>

/**
 * Allowed imports, from the ground up. A room is a file or a directory of src, or a directory in
 * it. A directory that is named alone means all rooms in it.
 */
const WRITTEN: Readonly<Record<string, WrittenRoom>> = {
  base: {
    holds: 'what every room may use: errors, logger, retry, cron',
    may: '',
    packages: 'node:fs node-cron p-limit pino undici',
  },
  config: {
    holds: 'settings: their kinds, sources and descriptions',
    may: 'base',
    packages: 'zod node-cron node:fs',
  },
  http: {
    holds: 'the HTTP server: reading bodies, answering, limits for strangers',
    may: 'base',
    packages: 'node:http node:net',
  },
  'source/jsonapi': {
    holds: 'JSON:API documents: from bytes, and the frames of the service',
    may: 'base',
    packages: 'zod',
    isPure: true,
  },
  'source/records': {
    holds: 'the records of the service as rows: columns, types, flattening',
    may: 'source/jsonapi base',
    isPure: true,
  },
  'source/client': {
    holds: 'requests to the service: client, pages, includes, request budget',
    may: 'source/jsonapi base',
    packages: 'undici node:http',
  },
  'warehouse/connection': {
    holds: 'connections, sessions, names of tables, errors of the server',
    may: 'source/records base',
    packages: 'pg kysely',
  },
  'warehouse/bookkeeping': {
    holds: 'records that one run leaves for the next: checkpoints, absences, queues, quarantine',
    may: 'warehouse/connection source/records source/jsonapi base',
    packages: 'kysely zod',
  },
  'warehouse/coordination': {
    holds: 'lease (which process may write) and request budget',
    may: 'warehouse/connection base',
    packages: 'kysely',
  },
  'warehouse/rows': {
    holds: 'records as rows: recognize, write, keep history, derive dependent rows',
    may: 'warehouse/bookkeeping warehouse/connection source/records source/jsonapi base',
    packages: 'kysely',
  },
  'warehouse/schema': {
    holds: 'migrations, views and roles: creates the schemas',
    may: 'warehouse/rows warehouse/bookkeeping warehouse/connection source/records base',
    packages: 'kysely pg yaml node:fs',
  },
  ingest: {
    holds: 'the path of a record into the warehouse, shared by sync and webhooks',
    may: 'source warehouse base',
    packages: 'kysely p-limit',
  },
  sync: {
    holds: 'the scheduled run',
    may: 'ingest source warehouse base',
    packages: 'kysely p-limit',
  },
  'webhooks/receive': {
    holds: 'deliveries: signature, sender, inbox, their states',
    may: 'http source/records source/jsonapi warehouse base',
    packages: 'kysely node:http node:net',
  },
  'webhooks/manage': {
    holds: 'our webhooks at the service: which are ours, check, reconcile with the inbox',
    may: 'webhooks/receive source warehouse base',
    packages: 'kysely',
  },
  'webhooks/process': {
    holds: 'turns notifications into rows, in the order in which they happened',
    may: 'webhooks/manage webhooks/receive ingest source warehouse base',
    packages: 'kysely node:timers',
  },
  status: {
    holds: 'the state of a warehouse and its processes, as `status`, metrics and alerts show it',
    may: 'webhooks source/records warehouse base',
    packages: 'kysely',
  },
  extension: {
    holds: 'the type of an extension: everything it may add to the core',
    may: 'status webhooks http source/client warehouse config base',
  },
  serve: {
    holds: 'the long-running process: its parts, routes and jobs',
    may: 'extension status webhooks sync ingest http source/client warehouse config base',
    packages: 'kysely node:http node:perf_hooks',
  },
  extensions: {
    holds: 'the list of extensions, and of their commands',
    may: '*',
    onlyFor: 'commands',
  },
  app: {
    holds: 'the one place where the parts are put together',
    may: '*',
    packages: 'node:fs',
    onlyFor: 'commands cli extensions',
  },
  commands: {
    holds: 'the command line: flags, wording, exit codes',
    may: '*',
    packages: 'kysely commander node:fs',
    onlyFor: 'cli extensions',
  },
  cli: { holds: 'the entry point of the program', may: 'commands app base', onlyFor: '' },
  'extensions/embedded-postgres': {
    holds: 'the PostgreSQL server that comes with the program, and the move away from it',
    may: 'extension app commands sync source/records warehouse config base',
    packages: 'kysely pg node:fs node:net node:child_process node:timers',
  },
  'extensions/answers': {
    holds: 'questions, stored views, rules, invoices, evidence, and how answers are printed',
    may: 'extensions/accounts extension app commands warehouse source/records config base',
    packages: 'kysely pg commander csv-parse ical-generator write-excel-file zod node:fs',
  },
  'extensions/accounts': {
    holds: 'many accounts: jobs, workers, Citus, customers',
    may: 'extensions/metrics extension app commands serve status sync webhooks http warehouse config base',
    packages: 'kysely p-limit pg prom-client',
  },
  'extensions/alerts': {
    holds: 'alerts for people: which are open, their messages and channels',
    may: 'extensions/answers extension app commands status warehouse config base',
    packages: 'kysely undici nodemailer node:child_process',
  },
  'extensions/dashboard': {
    holds: 'the page of charts: their queries, their drawing, their routes',
    may: 'extensions/answers extensions/doors extension commands status http warehouse config base',
    packages: 'kysely @observablehq/plot linkedom p-limit node:http',
  },
  'extensions/doctor': {
    holds:
      'looking whether all is well, and mending: check, plan, verify, quarantine, custom fields',
    may: 'extensions/answers extensions/accounts extension app commands status webhooks sync ingest source warehouse config base',
    packages: 'kysely commander',
  },
  'extensions/doors': {
    holds: 'questions for other programs: tokens, and answers over HTTP',
    may: 'extensions/answers extensions/accounts extensions/mcp extension app commands http warehouse config base',
    packages: 'kysely commander node:http node:net node:timers p-limit',
  },
  'extensions/lake': {
    holds: 'the warehouse as Parquet files for other engines',
    may: 'extensions/answers extensions/accounts commands warehouse config base',
    packages: 'kysely pg @duckdb/node-api @aws-sdk/client-s3 zod node:fs',
  },
  'extensions/mcp': {
    holds: 'answers for programs with language models, by the Model Context Protocol',
    may: 'extensions/answers extension app commands status http warehouse config base',
    packages:
      '@modelcontextprotocol/server @modelcontextprotocol/server/stdio kysely p-limit node:http',
  },
  'extensions/metrics': {
    holds: 'what `serve` tells Prometheus',
    may: 'extension status webhooks http base',
    packages: 'prom-client',
  },
  'extensions/setup': {
    holds: 'the interview of `init`, webhooks at the service, `.env`',
    may: 'extensions/doctor extension app commands webhooks http source config base',
    packages: 'commander node:fs node:http node:timers',
  },
  'extensions/simulator': {
    holds: 'the simulated service, and the demo that uses it',
    may: 'extensions/answers app commands sync source/jsonapi warehouse config base',
    packages: 'kysely commander node:fs node:http node:https node:net node:timers',
  },
}

const wordsOf = (text: string): string[] => text.split(' ').filter((word) => word !== '')

export const ROOMS: Readonly<Record<string, Room>> = Object.fromEntries(
  Object.entries(WRITTEN).map(([name, { may, packages, onlyFor, ...room }]) => [
    name,
    {
      ...room,
      may: wordsOf(may),
      ...(packages !== undefined && { packages: wordsOf(packages) }),
      ...(onlyFor !== undefined && { onlyFor: wordsOf(onlyFor) }),
    },
  ]),
)
