import { Registry, collectDefaultMetrics } from 'prom-client'
import { keepFor, within } from '../../../base/in-time.js'
import { slotGaps } from '../../../base/slots.js'
import { answerText } from '../../../http/answer.js'
import type { Route } from '../../../http/http-server.js'
import type { JobRow, TakenJob } from './account-jobs.js'
import type { ReceiverCounts } from '../../../webhooks/receive/outcomes.js'
import { addMetrics, type DescribedMetric, type Values } from '../../metrics/metrics.js'

/** Facts that this process knows without a query. */
interface AccountsProcess {
  readonly programVersion: string
  readonly deliveries: readonly (readonly [account: string, counts: ReceiverCounts])[]
  readonly held: readonly TakenJob[]
}

interface AccountFacts extends AccountsProcess {
  /** Empty while the database is unreachable. */
  readonly jobs: readonly JobRow[]
  readonly isUp: boolean
}

const syncs = (jobs: readonly JobRow[]): readonly JobRow[] =>
  jobs.filter(({ job }) => job === 'sync')

/** Replaces the metrics of one account if a process serves several. */
export const ACCOUNT_METRICS: Readonly<Record<string, DescribedMetric<AccountFacts>>> = {
  account_sync_age_seconds: {
    help: 'Time since the last sync of the account that ended well was taken by a worker.',
    labelNames: ['account'],
    read: ({ jobs }) =>
      syncs(jobs).flatMap(({ account, succeededSeconds }) =>
        succeededSeconds === null ? [] : [[{ account }, succeededSeconds]],
      ),
  },
  account_sync_late: {
    help:
      '1 when the sync of the account is late: none has ended well for more than two periods, ' +
      'or none at all and it was due for one.',
    labelNames: ['account'],
    read: ({ jobs }) => syncs(jobs).map((job) => [{ account: job.account }, isLate(job) ? 1 : 0]),
  },
  account_job_overdue_seconds: {
    help: 'How long a job of the account has been due without a worker; 0 when it is not due.',
    labelNames: ['account', 'name'],
    read: ({ jobs }) =>
      jobs.map(({ account, job, worker, overdueSeconds }) => [
        { account, name: job },
        worker === null ? Math.max(0, overdueSeconds) : 0,
      ]),
  },
  account_job_running: {
    help: '1 while a worker, here or elsewhere, holds a job of the account.',
    labelNames: ['account', 'name'],
    read: ({ jobs }) =>
      jobs.map(({ account, job, worker }) => [{ account, name: job }, worker === null ? 0 : 1]),
  },
  account_job_failures: {
    help: 'Failures of a job of the account since it last ended well.',
    labelNames: ['account', 'name'],
    read: ({ jobs }) =>
      jobs.map(({ account, job, failures }) => [{ account, name: job }, failures]),
  },
  account_jobs_held: {
    help: 'Jobs of accounts that this process holds.',
    read: ({ held }) => [[{}, held.length]],
  },
  account_deliveries_total: {
    type: 'counter',
    help:
      'Deliveries that this process answered, by account and result; the account is empty for ' +
      'paths of no account.',
    labelNames: ['account', 'result'],
    read: ({ deliveries }) =>
      deliveries.flatMap(([account, counts]): Values =>
        Object.entries(counts)
          .filter(([result]) => result !== 'received')
          .map(([result, count]) => [{ account, result }, count]),
      ),
  },
}

/** The same texts as in `serve` of one account. */
const SHARED_METRICS: Readonly<Record<string, DescribedMetric<AccountFacts>>> = {
  info: {
    help: 'Version of the program.',
    labelNames: ['version'],
    read: ({ programVersion }) => [[{ version: programVersion }, 1]],
  },
  warehouse_up: {
    help: '1 when the database answered within five seconds.',
    read: ({ isUp }) => [[{}, isUp ? 1 : 0]],
  },
}

/** More than two periods have passed without a successful sync. */
export function isLate({ rhythm, succeededSeconds, overdueSeconds }: JobRow): boolean {
  // The rhythm is stored as the cron expression and the time zone.
  const at = rhythm.lastIndexOf(' ')
  const periodSeconds = slotGaps(rhythm.slice(0, at), rhythm.slice(at + 1)).longestMs / 1000
  if (succeededSeconds === null) return overdueSeconds > periodSeconds
  return succeededSeconds > 2 * periodSeconds
}

const PATIENCE_MS = 5_000
/** Clients that ask more often get the same text. */
const KEPT_MS = 1_000

/** The route `/metrics` of a process that serves several accounts. */
export function createAccountMetricsRoute(sources: {
  readonly ofProcess: () => AccountsProcess
  readonly ofAccounts: () => Promise<readonly JobRow[]>
}): Route {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  let facts: AccountFacts
  addMetrics(registry, { ...SHARED_METRICS, ...ACCOUNT_METRICS }, () => facts)
  const text = keepFor(KEPT_MS, async () => {
    const jobs = await within(PATIENCE_MS, sources.ofAccounts())
    facts = { ...sources.ofProcess(), jobs: jobs ?? [], isUp: jobs !== undefined }
    return registry.metrics()
  })
  return {
    methods: ['GET', 'HEAD'],
    handle: async (_request, response) => {
      answerText(response, { text: await text(), type: registry.contentType })
    },
  }
}
