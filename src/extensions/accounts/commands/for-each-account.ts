import type { App } from '../../../app.js'
import { ConfigError } from '../../../base/errors.js'
import type { Answer, CommandIo } from '../../../commands/command-io.js'
import { flag, type AnyDeclaration, type ExtendCommand } from '../../../commands/declare-command.js'
import { createSignature } from '../../../commands/serve.js'
import {
  runBackfillOnce,
  runSyncOnce,
  type BackfillFlags,
  type SyncFlags,
} from '../../../commands/sync.js'
import {
  CUSTOMER_FLAGS,
  migrateWithCustomers,
  refuseBoth,
  type CustomerFlags,
} from '../customers/migrate-customers.js'
import type { ServeParts } from '../../../serve/serve-dependencies.js'

const ALL = {
  allAccounts: flag('--all', 'For every account of the configuration file, side by side.'),
}

const LOADING: Pick<AnyDeclaration, 'loadAll'> = {
  loadAll: ({ allAccounts, worker }) =>
    allAccounts === true || worker === true
      ? async (sources) => (await import('../load-accounts.js')).loadAccounts(sources)
      : undefined,
}

/** Adds `--all` to a command; with it, `runAll` runs instead of the command's own code. */
function withAll(
  runAll: (app: App, flags: never, io: CommandIo) => Promise<Answer>,
): ExtendCommand {
  return (declaration) => ({
    ...declaration,
    ...LOADING,
    takes: { ...ALL, ...declaration.takes },
    run: (app, flags, io) =>
      // The flags have the types that the command declares.
      flags.allAccounts === true
        ? runAll(app, flags as never, io)
        : declaration.run(app, flags, io),
  })
}

const syncAll = withAll(async (app, flags: SyncFlags, io) => {
  const { runForAll } = await import('./sync-all.js')
  return runForAll(app, (one) => runSyncOnce(one, io, { ...flags, isQuiet: true }))
})

const backfillAll = withAll(async (app, flags: BackfillFlags, io) => {
  // An id belongs to one account.
  if (flags.shipmentIds.length + flags.containerIds.length > 0) {
    const problem = 'cannot be given with --shipment or --container; choose with --account'
    throw new ConfigError([{ setting: '--all', problem }])
  }
  const { runForAll } = await import('./sync-all.js')
  return runForAll(app, (one) => runBackfillOnce(one, io, { ...flags, isQuiet: true }))
})

const migrateAll = withAll(async (app, flags: CustomerFlags) => {
  refuseBoth(flags)
  const every = await import('./migrate-all.js')
  return every.migrateAll(app, (one) => migrateWithCustomers(one, flags))
})

const migrateCustomers: ExtendCommand = (declaration) => ({
  ...declaration,
  takes: { ...declaration.takes, ...CUSTOMER_FLAGS },
  run: async (app, flags) => {
    const given = flags as unknown as CustomerFlags
    refuseBoth(given)
    return migrateWithCustomers(app, given)
  },
})

const statusAll = withAll(async (app) => {
  const { statusOfAll } = await import('./status-all.js')
  return statusOfAll(app)
})

const serveAll: ExtendCommand = (declaration) => ({
  ...declaration,
  ...LOADING,
  takes: {
    allAccounts: flag('--all', 'For every account of the configuration file, in this process.'),
    worker: flag(
      '--worker',
      'As --all, but without the receiver: one of several processes that share the accounts.',
    ),
    ...declaration.takes,
  },
  run: (app, flags, io) =>
    flags.allAccounts === true || flags.worker === true
      ? serveEvery(app, flags as unknown as ServeFlags, io)
      : declaration.run(app, flags, io),
})

interface ServeFlags extends ServeParts {
  readonly worker: boolean
  readonly isInsecure: boolean
}

async function serveEvery(
  app: App,
  { worker, isInsecure, isReceiving, isProcessing, isScheduling }: ServeFlags,
  io: CommandIo,
): Promise<number> {
  const { serveAccounts } = await import('./serve-accounts.js')
  const parts = { isReceiving: isReceiving && !worker, isProcessing, isScheduling }
  return serveAccounts(app, io, parts, (one, ofOne) => createSignature(one, ofOne, isInsecure))
}

/** The additions of many accounts to the commands of the core. */
export const forEachAccount: Readonly<Record<string, ExtendCommand>> = {
  migrate: (declaration) => migrateAll(migrateCustomers(declaration)),
  backfill: backfillAll,
  sync: syncAll,
  serve: serveAll,
  status: statusAll,
}
