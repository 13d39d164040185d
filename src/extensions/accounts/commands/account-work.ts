import type { App } from '../../../app.js'
import { createSleep } from '../../../base/retry.js'
import { applyInbox, INBOX_JOB, INBOX_RHYTHM } from '../serve/apply-inbox.js'
import { createJobs, cronsOf } from '../../../serve/jobs.js'
import type { ServeParts } from '../../../serve/serve-dependencies.js'
import type { AccountJob, Lane } from '../serve/worker.js'
import type { ConnectionPool } from '../../../warehouse/connection/connection-pool.js'
import type { Warehouse } from '../../../warehouse/connection/warehouse.js'
import type { TakenJob } from '../serve/account-jobs.js'
import { failpointOf, runSettingsOf } from '../../../commands/sync.js'
import { ACCOUNTS_AT_ONCE } from './for-all.js'

/** The jobs of each account and their rhythm. */
export function plannedJobs(app: App): AccountJob[] {
  return app.accounts.flatMap(({ name: account, config }) => [
    ...cronsOf(config, app.observers).map(({ name: job, cron }) => ({
      account,
      job,
      rhythm: { cron, timeZone: config.cronTimeZone },
      isFirstAtOnce: job === 'sync',
    })),
    { account, job: INBOX_JOB, rhythm: INBOX_RHYTHM, isFirstAtOnce: true },
  ])
}

const UPKEEP = ['reconcile', 'alerts', 'storing of views', 'housekeeping']

/** Places for each kind of work: a sync of an hour must not delay a notification. */
export function lanesOf({ isProcessing, isScheduling }: ServeParts): Lane[] {
  const few = ACCOUNTS_AT_ONCE / 4
  return [
    ...(isScheduling ? [{ jobs: ['sync'], places: ACCOUNTS_AT_ONCE }] : []),
    ...(isProcessing ? [{ jobs: [INBOX_JOB], places: few }] : []),
    ...(isScheduling ? [{ jobs: UPKEEP, places: few }] : []),
  ]
}

/**
 * Another process holds the lease: the lease of a worker that died elsewhere is stale after 50 s.
 */
const HELD_AGAIN_MS = 5_000

/** Does the jobs of accounts, each with its own settings, all on shared connections. */
export class AccountWork {
  readonly #app: App
  readonly #pool: ConnectionPool
  /** Accounts whose schemas are up to date and whose key has been verified. */
  readonly #prepared = new Set<string | undefined>()

  constructor(app: App, pool: ConnectionPool) {
    this.#app = app
    this.#pool = pool
  }

  /** Prepares each account once. Throws the error of its settings or warehouse. */
  async prepare(ofAccount: App, warehouse: Warehouse): Promise<void> {
    const { account } = ofAccount.config
    if (this.#prepared.has(account)) return
    await ofAccount.prepare(warehouse, { isWriting: true })
    this.#prepared.add(account)
  }

  /**
   * Does one job. Returns the wait until it is due again if that is sooner than its rhythm says.
   */
  async run({ account, job }: TakenJob, signal: AbortSignal): Promise<number | undefined> {
    const loaded = this.#app.accounts.find(({ name }) => name === account)
    if (loaded === undefined) throw new Error(`there is no account ${account}`)
    const ofAccount = this.#app.ofAccount(loaded, signal)
    try {
      const warehouse = await ofAccount.connect({ pool: this.#pool })
      await this.prepare(ofAccount, warehouse)
      const { config, logger, programVersion } = ofAccount
      const { service } = await ofAccount.openService({ warehouse })
      const dependencies = {
        config,
        logger,
        programVersion,
        service,
        signal,
        warehouse,
        observers: ofAccount.observers,
        redact: ofAccount.redact,
        clock: () => new Date(),
        freeDiskBytes: () => this.#app.freeDiskBytes(),
        reachFailpoint: failpointOf(ofAccount),
        runSettings: runSettingsOf(config),
        sleep: createSleep(),
      }
      if (job === INBOX_JOB) return await applyInbox(dependencies)
      const found = createJobs(dependencies, () => undefined).find(({ name }) => name === job)
      return (await found?.run()) === 'held' ? HELD_AGAIN_MS : undefined
    } finally {
      await ofAccount.close()
    }
  }
}
