import { hostname } from 'node:os'
import { randomUUID } from 'node:crypto'
import type { App } from '../../../app.js'
import { openAccounts, openPool } from '../open-accounts.js'
import { createSleep } from '../../../base/retry.js'
import { requireService } from '../../../config/needed-settings.js'
import { startAccounts, type AccountReceiver } from '../serve/start-accounts.js'
import { createSenders } from '../../../serve/start-serve.js'
import type { ServeParts } from '../../../serve/serve-dependencies.js'
import { refuseReadOnly } from '../../../warehouse/connection/read-only.js'
import { prepareJobs } from '../serve/account-jobs.js'
import type { ConnectionPool } from '../../../warehouse/connection/connection-pool.js'
import { Receiver } from '../../../webhooks/receive/receive.js'
import type { SenderAddresses } from '../../../webhooks/receive/sender-addresses.js'
import type { SignatureCheck } from '../../../webhooks/receive/signature.js'
import type { CommandIo } from '../../../commands/command-io.js'
import { serveUntilStopped } from '../../../commands/serve-until-stopped.js'
import { failpointOf } from '../../../commands/sync.js'
import { AccountWork, lanesOf, plannedJobs } from './account-work.js'
import { ACCOUNTS_AT_ONCE } from './for-all.js'

type SignatureOf = (app: App, parts: ServeParts) => Promise<SignatureCheck | 'insecure'>

/** For each active account: its run, the lease and the budget. */
const CONNECTIONS_PER_ACCOUNT = 3
/** For the table of jobs, health and metrics. */
const OTHER_CONNECTIONS = 6
/** Shared by the inboxes of all accounts. */
const INBOX_CONNECTIONS = 4

/** `serve --all` and `serve --worker`: every account, its work taken from the table of jobs. */
export async function serveAccounts(
  app: App,
  io: CommandIo,
  parts: ServeParts,
  signatureOf: SignatureOf,
): Promise<number> {
  const { config, logger, signal, programVersion } = app
  for (const { config: own } of app.accounts) requireService(own)
  const pool = await openPool(app, ACCOUNTS_AT_ONCE * CONNECTIONS_PER_ACCOUNT + OTHER_CONNECTIONS)
  const accounts = await openAccounts(app, pool)
  const sleep = createSleep()
  const work = new AccountWork(app, pool)
  const serving = await startAccounts({
    config,
    names: app.accounts.map(({ name }) => name),
    accounts,
    receivers: parts.isReceiving ? await createReceivers(app, work, signatureOf, parts) : [],
    jobs: plannedJobs(app),
    lanes: lanesOf(parts),
    // Unique in the table: process ids are reused.
    worker: `${hostname()}/${process.pid}/${randomUUID().slice(0, 4)}`,
    run: (taken, jobSignal) => work.run(taken, jobSignal),
    prepare: async () => {
      await refuseReadOnly(accounts)
      if (config.migrate && !config.strict) await prepareJobs(accounts, { sleep })
    },
    programVersion,
    logger,
    clock: () => new Date(),
    sleep,
    signal,
  })
  const hooks = parts.isReceiving ? `, webhooks at ${config.webhookPath}/<account>` : ''
  logger.info('serving accounts', { url: serving.url, accounts: app.accounts.length, ...parts })
  io.print(
    `serving ${app.accounts.length} accounts at ${serving.url}${hooks}, pages at ${serving.pagesUrl}`,
  )
  return serveUntilStopped(app, io, serving)
}

async function createReceivers(
  app: App,
  work: AccountWork,
  signatureOf: SignatureOf,
  parts: ServeParts,
): Promise<AccountReceiver[]> {
  const pool: ConnectionPool = await openPool(app, INBOX_CONNECTIONS, {
    isKeptOpen: true,
  })
  const receivers: AccountReceiver[] = []
  for (const loaded of app.accounts) {
    const ofAccount = app.ofAccount(loaded)
    const { config, logger } = ofAccount
    const signature = await signatureOf(ofAccount, parts)
    const warehouse = await ofAccount.connect({ pool })
    const senders = await openSenders(ofAccount)
    receivers.push({
      account: loaded.name,
      path: `${config.webhookPath}/${loaded.name}`,
      prepare: () => work.prepare(ofAccount, warehouse),
      create: (onStored) =>
        new Receiver({
          warehouse,
          signature,
          logger,
          ...(senders && {
            senders: { addresses: senders, trustedProxyHops: config.trustedProxyHops },
          }),
          reachFailpoint: failpointOf(ofAccount),
          onStored,
        }),
    })
  }
  return receivers
}

/** Undefined if the account accepts deliveries from any address. */
async function openSenders(ofAccount: App): Promise<SenderAddresses | undefined> {
  const { config, logger, signal } = ofAccount
  if (!config.preset.webhooks.checkSenders) return undefined
  const { service } = await ofAccount.openService()
  const sleep = createSleep()
  const senders = createSenders({ config, service, logger, clock: () => new Date(), sleep })
  senders?.keepFresh(signal).catch((error: unknown) => {
    if (!signal.aborted) {
      logger.error('the list of sender addresses is no longer refreshed', { error })
    }
  })
  return senders
}
