import type { App } from '../../../app.js'
import { openAccounts } from '../open-accounts.js'
import { createSleep } from '../../../base/retry.js'
import { prepareJobs } from '../serve/account-jobs.js'
import type { Answer } from '../../../commands/command-io.js'
import type { Part } from '../../../commands/output/print-table.js'
import { answerForAll, forAllAccounts } from './for-all.js'

interface Migrated {
  readonly data: { readonly version: number; readonly applied: readonly string[] }
  readonly text: readonly Part[]
  readonly exitCode: number
  readonly error: string | undefined
}

/** Brings the schemas of every account up to date, and the schema that they share for workers. */
export async function migrateAll(
  app: App,
  migrateOne: (ofAccount: App) => Promise<Migrated>,
): Promise<Answer> {
  await prepareJobs(await openAccounts(app), { sleep: createSleep() })
  const ends = await forAllAccounts(app, async (ofAccount) => {
    const answer = await migrateOne(ofAccount)
    return { answer, exitCode: answer.exitCode, problem: answer.error }
  })
  const answer = answerForAll(
    app,
    ends,
    ['applied', 'version', 'seconds'],
    ({ result, seconds }) => [
      result?.answer.data.applied.length ?? null,
      result?.answer.data.version ?? null,
      seconds,
    ],
    ({ result }) => result?.answer.data ?? {},
  )
  // Statements for an administrator are part of the account's text.
  const refused = ends.filter(({ result, exitCode }) => result !== undefined && exitCode !== 0)
  const said = refused.flatMap(({ account, result }) => [
    '',
    `-- ${account}`,
    ...(result?.answer.text ?? []),
  ])
  return { ...answer, text: [...answer.text, ...said] }
}
