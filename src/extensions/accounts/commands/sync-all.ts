import type { App } from '../../../app.js'
import { openPool } from '../open-accounts.js'
import { readSyncFreshness } from '../../../status/read-vitals.js'
import type { RunReport } from '../../../sync/run-sync.js'
import type { Answer } from '../../../commands/command-io.js'
import { answerForAll, forAllAccounts } from './for-all.js'

/** A sync or backfill of every account, the longest waiting first. */
export async function runForAll(
  app: App,
  runOne: (ofAccount: App) => Promise<RunReport>,
): Promise<Answer> {
  const work = async (ofAccount: App) => {
    const report = await runOne(ofAccount)
    return { report, exitCode: report.exitCode, problem: problemOf(ofAccount, report) }
  }
  const ends = await forAllAccounts(app, work, await orderByWait(app))
  return answerForAll(
    app,
    ends,
    ['outcome', 'rows written', 'requests', 'seconds'],
    ({ result, seconds }) => [
      result?.report.outcome ?? 'failed',
      result === undefined ? null : writtenIn(result.report),
      result?.report.requests ?? null,
      seconds,
    ],
    ({ result }) => ({
      outcome: result?.report.outcome ?? 'failed',
      rowsWritten: result === undefined ? null : writtenIn(result.report),
      requests: result?.report.requests ?? null,
      syncRunId: result?.report.syncRunId ?? null,
    }),
  )
}

function problemOf(app: App, { problems }: RunReport): string | undefined {
  const [gravest] = problems
  return gravest === undefined ? undefined : app.redact(gravest)
}

function writtenIn({ streams }: RunReport): number {
  return streams.reduce(
    (sum, { counts }) => sum + counts.inserted + counts.updated + counts.tombstoned,
    0,
  )
}

/** The names of the accounts: first those without a complete sync, then the oldest ones. */
async function orderByWait(app: App): Promise<string[]> {
  const pool = await openPool(app, 1)
  const ages = new Map<string, number>()
  for (const loaded of app.accounts) {
    const warehouse = await app.ofAccount(loaded).connect({ pool })
    // A missing warehouse has waited longest; its run reports other problems.
    const freshness = await readSyncFreshness(warehouse).catch(() => undefined)
    ages.set(loaded.name, freshness?.ageSeconds ?? Number.POSITIVE_INFINITY)
  }
  await pool.close()
  const ageOf = (name: string): number => ages.get(name) ?? 0
  const names = app.accounts.map(({ name }) => name)
  return names.sort((one, other) => {
    const [first, second] = [ageOf(one), ageOf(other)]
    return first === second ? 0 : second - first
  })
}
