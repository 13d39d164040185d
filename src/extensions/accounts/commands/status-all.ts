import type { App } from '../../../app.js'
import { openAccounts, openPool } from '../open-accounts.js'
import { EXIT_CODES } from '../../../base/exit-code.js'
import { formatSeconds } from '../../../base/phrases.js'
import { nextSlot, slotGaps } from '../../../base/slots.js'
import { findAlerts, sentencesOf } from '../../../status/describe-status.js'
import { readStatus } from '../../../status/read-status.js'
import { isSyncOverdue, slotsOf } from '../../../status/read-vitals.js'
import type { Warehouse } from '../../../warehouse/connection/warehouse.js'
import { readJobs, type JobRow } from '../serve/account-jobs.js'
import type { Answer } from '../../../commands/command-io.js'
import { ACCOUNTS_AT_ONCE, answerForAll, forAllAccounts } from './for-all.js'

/** The state of each account, a line each; names workers if several share the accounts. */
export async function statusOfAll(app: App): Promise<Answer> {
  const pool = await openPool(app, ACCOUNTS_AT_ONCE)
  const names = app.accounts.map(({ name }) => name)
  const jobs = await readJobs(await openAccounts(app, pool), names)
  const ends = await forAllAccounts(app, async (ofAccount) => {
    const warehouse = await ofAccount.connect({ pool })
    await ofAccount.prepare(warehouse)
    const sync = jobs.find(
      ({ account, job }) => account === ofAccount.config.account && job === 'sync',
    )
    return { status: await readOne(ofAccount, warehouse, sync), exitCode: EXIT_CODES.complete }
  })
  const answer = answerForAll(
    app,
    ends,
    ['schema', 'age', 'every', 'next', 'worker', 'alerts'],
    ({ result }) =>
      result === undefined
        ? [null, null, null, null, null, null]
        : [
            result.status.schema,
            result.status.ageSeconds === null ? 'never' : formatSeconds(result.status.ageSeconds),
            result.status.periodSeconds === null
              ? 'off'
              : formatSeconds(result.status.periodSeconds),
            describeNext(result.status),
            result.status.worker,
            result.status.alerts.length,
          ],
    ({ result }) => result?.status ?? {},
  )
  const alerts = ends.flatMap(({ account, result }) =>
    (result?.status.alerts ?? []).map((alert) => `ALERT of ${account}: ${alert}`),
  )
  return { ...answer, text: [...answer.text, ...(alerts.length === 0 ? [] : ['', ...alerts])] }
}

interface AccountStatus {
  readonly schema: string
  readonly lastCompleteSyncBegan: string | null
  readonly ageSeconds: number | null
  /** Time between two slots of its syncs; null if they are off. */
  readonly periodSeconds: number | null
  /** Null while a worker does the job. */
  readonly nextDueAt: string | null
  readonly isLate: boolean
  readonly worker: string | null
  readonly failures: number
  readonly alerts: readonly string[]
}

async function readOne(
  app: App,
  warehouse: Warehouse,
  job: JobRow | undefined,
): Promise<AccountStatus> {
  const { config } = app
  const slots = slotsOf(config)
  const read = await readStatus(warehouse)
  const facts = { slots, isServing: false, freeDiskBytes: await app.freeDiskBytes() }
  const isOn = slots.cron !== 'off'
  const next = isOn ? nextSlot(slots.cron, slots.timeZone)?.toISOString() : undefined
  return {
    schema: config.schema,
    lastCompleteSyncBegan: read.freshness.beganAt,
    ageSeconds: read.freshness.ageSeconds,
    periodSeconds: isOn ? slotGaps(slots.cron, slots.timeZone).longestMs / 1000 : null,
    nextDueAt: job === undefined ? (next ?? null) : job.worker === null ? job.dueAt : null,
    // This command does not know for how long the account has been served.
    isLate: isSyncOverdue(read, slots, Infinity) === true,
    worker: job?.worker ?? null,
    failures: job?.failures ?? 0,
    alerts: sentencesOf(findAlerts(read, facts)).map((alert) => app.redact(alert)),
  }
}

function describeNext({ nextDueAt, worker }: AccountStatus): string {
  if (worker !== null) return 'runs now'
  if (nextDueAt === null) return 'never'
  const seconds = (Date.parse(nextDueAt) - Date.now()) / 1000
  return seconds <= 0 ? 'now' : `in ${formatSeconds(seconds)}`
}
