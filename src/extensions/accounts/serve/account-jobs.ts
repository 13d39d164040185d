import { sql } from 'kysely'
import { projectFile } from '../../../base/project-file.js'
import {
  migrate,
  readMigrations,
  type MigrateOptions,
} from '../../../warehouse/schema/run-migrations.js'
import type { Session, Warehouse } from '../../../warehouse/connection/warehouse.js'
import { tableRef } from '../../../warehouse/connection/typed-database.js'

/**
 * The jobs of accounts. Workers take the due ones:
 *
 *   waiting ──(due) taken──► held ──sign of life──► held
 *      ▲                      │ ├── ended ────► waiting, due at its next slot
 *      │                      │ ├── given back ► waiting, due as before
 *      │                      │ └── silent for 30 s: taken by another
 *      └── requested: due at once, or once more after its end
 *
 * - Holding a job is only a plan. The lease of the warehouse decides who may write.
 * - Each take raises the number of the job, so that a worker that lost it can neither end nor
 *   return it.
 * - Only the database's clock decides which job is due and which worker is silent.
 */

/** Three missed signs of life. */
const SILENT_AFTER_SECONDS = 30

/** A planned job. */
export interface PlannedJob {
  readonly account: string
  readonly job: string
  /** The rule of its due times; the job is planned again when it differs from the stored one. */
  readonly rhythm: string
  /** For a job that is new or planned again. */
  readonly dueAt: Date
}

/** A job that this worker holds. */
export interface TakenJob {
  readonly account: string
  readonly job: string
  readonly takeNumber: number
  /** The time at which it was due. */
  readonly dueAt: Date
  /** The worker that held it and fell silent; null if it was free. */
  readonly formerWorker: string | null
}

export interface JobRow {
  readonly account: string
  readonly job: string
  readonly rhythm: string
  readonly dueAt: string
  readonly worker: string | null
  readonly takenAt: string | null
  /** Since the worker's last sign of life. */
  readonly silentSeconds: number | null
  readonly succeededAt: string | null
  readonly succeededSeconds: number | null
  readonly overdueSeconds: number
  readonly problem: string | null
  readonly failures: number
}

/** Creates the table if it is missing. Throws MigrationError. */
export async function prepareJobs(accounts: Warehouse, options: MigrateOptions): Promise<void> {
  await migrate(accounts, await readMigrations(projectFile('sql/accounts/')), options)
}

/** False if the table is missing. */
export async function hasJobs(accounts: Session): Promise<boolean> {
  const rows = await accounts.query(
    'look for the jobs of accounts',
    sql`select from pg_tables where schemaname = ${accounts.names.sync} and tablename = 'jobs'`,
  )
  return rows.length > 0
}

/**
 * Plans the jobs of these accounts: adds new ones, computes the due time of those with a changed
 * rhythm again, and deletes those no longer wanted. Planned jobs stay as they are.
 */
export async function planJobs(accounts: Warehouse, jobs: readonly PlannedJob[]): Promise<void> {
  const table = tableRef('sync.jobs')
  const names = jobs.map(({ account }) => account)
  const works = jobs.map(({ job }) => job)
  await accounts.transaction('plan the jobs of accounts', async (session) => {
    await session.query(
      'plan the jobs of accounts',
      sql`insert into ${table} as planned (account_name, job_name, rhythm, due_at)
select wanted.account_name, wanted.job_name, wanted.rhythm, wanted.due_at
from unnest(
    ${names}::text[],
    ${works}::text[],
    ${jobs.map(({ rhythm }) => rhythm)}::text[],
    ${jobs.map(({ dueAt }) => dueAt.toISOString())}::timestamptz[]
) as wanted (account_name, job_name, rhythm, due_at)
order by wanted.account_name, wanted.job_name
on conflict (account_name, job_name) do update
set rhythm = excluded.rhythm, due_at = excluded.due_at
where planned.rhythm != excluded.rhythm`,
    )
    await session.query(
      'delete jobs of accounts',
      sql`delete from ${table} as planned
where planned.account_name = any(${names}::text[])
    and planned.worker is null
    and not exists (
        select from unnest(${names}::text[], ${works}::text[]) as wanted (account_name, job_name)
        where wanted.account_name = planned.account_name and wanted.job_name = planned.job_name
    )`,
    )
  })
}

/**
 * Takes up to `limit` jobs that are due or whose worker fell silent, longest waiting first. One
 * short transaction; workers that take at the same time do not wait for each other.
 */
export async function takeJobs(
  accounts: Session,
  worker: string,
  of: { readonly accounts: readonly string[]; readonly jobs: readonly string[] },
  limit: number,
): Promise<TakenJob[]> {
  const table = tableRef('sync.jobs')
  const rows = await accounts.query(
    'take jobs of accounts',
    sql<Omit<TakenJob, 'dueAt'> & { readonly dueMs: number }>`with due as (
    select account_name, job_name, worker
    from ${table}
    where account_name = any(${of.accounts})
        and job_name = any(${of.jobs})
        and (
            (worker is null and due_at <= clock_timestamp())
            or seen_at < clock_timestamp() - make_interval(secs => ${SILENT_AFTER_SECONDS})
        )
    order by due_at, account_name, job_name
    limit ${limit}
    for update skip locked
)

update ${table} as taken
set
    worker = ${worker},
    take_number = taken.take_number + 1,
    taken_at = clock_timestamp(),
    seen_at = clock_timestamp(),
    asked_at = null
from due
where taken.account_name = due.account_name and taken.job_name = due.job_name
returning
    taken.account_name as account,
    taken.job_name as job,
    taken.take_number as "takeNumber",
    due.worker as "formerWorker",
    floor(extract(epoch from taken.due_at) * 1000)::bigint as "dueMs"`,
  )
  return rows.map(({ dueMs, ...row }) => ({ ...row, dueAt: new Date(dueMs) }))
}

/**
 * Gives a sign of life for all jobs of a worker. Returns the keys of the jobs that it still holds.
 */
export async function keepJobs(accounts: Session, worker: string): Promise<ReadonlySet<string>> {
  const rows = await accounts.query(
    'keep the jobs of accounts',
    accounts.db
      .updateTable('sync.jobs')
      .set({ seen_at: sql`clock_timestamp()` })
      .where('worker', '=', worker)
      .returning(['account_name as account', 'job_name as job', 'take_number as takeNumber']),
  )
  return new Set(rows.map(keyOfTake))
}

/** Identifies one take of a job. */
export function keyOfTake({
  account,
  job,
  takeNumber,
}: Pick<TakenJob, 'account' | 'job' | 'takeNumber'>): string {
  return `${account} ${job} ${takeNumber}`
}

/**
 * Ends a job that this worker holds; it is due again at `dueAt`, or at once if it was requested
 * meanwhile.
 */
export async function endJob(
  accounts: Session,
  { account, job, takeNumber }: TakenJob,
  { dueAt, problem }: { readonly dueAt: Date; readonly problem: string | null },
): Promise<void> {
  await accounts.query(
    'end a job of an account',
    sql`update ${tableRef('sync.jobs')}
set
    worker = null,
    seen_at = null,
    due_at = case when asked_at is null then ${dueAt.toISOString()}::timestamptz else clock_timestamp() end,
    ended_at = clock_timestamp(),
    succeeded_at = case when ${problem}::text is null then taken_at else succeeded_at end,
    problem = ${problem},
    failures = case when ${problem}::text is null then 0 else failures + 1 end
where account_name = ${account} and job_name = ${job} and take_number = ${takeNumber} and worker is not null`,
  )
}

/** Gives back an unfinished job: another worker takes it at once. */
export async function giveBackJob(accounts: Session, taken: TakenJob): Promise<void> {
  const { account, job, takeNumber } = taken
  await accounts.query(
    'give back a job of an account',
    accounts.db
      .updateTable('sync.jobs')
      .set({ worker: null, seen_at: null })
      .where('account_name', '=', account)
      .where('job_name', '=', job)
      .where('take_number', '=', takeNumber)
      .where('worker', 'is not', null),
  )
}

/** Makes a job due now, or due again at its end while a worker holds it. */
export async function askForJob(accounts: Session, account: string, job: string): Promise<void> {
  await accounts.query(
    'ask for a job of an account',
    accounts.db
      .updateTable('sync.jobs')
      .set({ due_at: sql`least(due_at, clock_timestamp())`, asked_at: sql`clock_timestamp()` })
      .where('account_name', '=', account)
      .where('job_name', '=', job),
  )
}

/** The jobs of these accounts; none if the table is missing. */
export async function readJobs(accounts: Session, of: readonly string[]): Promise<JobRow[]> {
  if (!(await hasJobs(accounts))) return []
  return accounts.query(
    'read the jobs of accounts',
    sql<JobRow>`select
    account_name as account,
    job_name as job,
    rhythm,
    due_at as "dueAt",
    worker,
    taken_at as "takenAt",
    extract(epoch from clock_timestamp() - seen_at)::float8 as "silentSeconds",
    succeeded_at as "succeededAt",
    extract(epoch from clock_timestamp() - succeeded_at)::float8 as "succeededSeconds",
    extract(epoch from clock_timestamp() - due_at)::float8 as "overdueSeconds",
    problem,
    failures
from ${tableRef('sync.jobs')}
where account_name = any(${of})
order by account_name, job_name`,
  )
}
