import { REQUESTS_END_MS } from '../../../serve/serve-dependencies.js'
import type { Logger } from '../../../base/logger.js'
import type { Sleep } from '../../../base/retry.js'
import { bothSpellings } from '../../../webhooks/receive/receiver-path.js'
import type { Config } from '../../../config/settings.js'
import { answer, answerText } from '../../../http/answer.js'
import type { Route } from '../../../http/http-server.js'
import { forListedHosts, namesOf } from '../../../http/listed-hosts.js'
import type { Warehouse } from '../../../warehouse/connection/warehouse.js'
import { askForJob, readJobs } from './account-jobs.js'
import { Outcomes } from '../../../webhooks/receive/outcomes.js'
import type { Receiver } from '../../../webhooks/receive/receive.js'
import { createAccountMetricsRoute } from './account-metrics.js'
import { INBOX_JOB } from './apply-inbox.js'
import { Health } from '../../../serve/health.js'
import { healthRoutes, NOT_PREPARED } from '../../../serve/routes.js'
import { startPorts, type Ports } from '../../../serve/start-ports.js'
import { awaitWarehouse, type Serving } from '../../../serve/start-serve.js'
import { startWorker, type RunningWorker, type WorkerDependencies } from './worker.js'

/** The receiver of one account's deliveries. */
export interface AccountReceiver {
  readonly account: string
  readonly path: string
  /** Brings the schemas of the account up to date. */
  readonly prepare: () => Promise<void>
  readonly create: (onStored: () => void) => Receiver
}

export interface StartAccountsDependencies extends WorkerDependencies {
  /** The configuration of the process. */
  readonly config: Config
  /** The names of all accounts. */
  readonly names: readonly string[]
  /** Empty if this process receives nothing. */
  readonly receivers: readonly AccountReceiver[]
  /** Creates the table of jobs; called again until the database can be reached. */
  readonly prepare: () => Promise<void>
  readonly programVersion: string
  readonly logger: Logger
  readonly sleep: Sleep
  readonly signal: AbortSignal
}

/** The account of a request to an unknown path. */
const NO_ACCOUNT = ''

/**
 * Starts the receivers of all accounts on one address with health, metrics on another, and a worker
 * for their due jobs. Resolves when both answer; the rest starts when the database can be
 * reached. Without lanes no jobs are done here.
 */
export async function startAccounts(dependencies: StartAccountsDependencies): Promise<Serving> {
  const { accounts, config, logger, names, lanes, programVersion } = dependencies
  const stopping = new AbortController()
  const signal = AbortSignal.any([dependencies.signal, stopping.signal])
  const inboxes = dependencies.receivers.map((one) => createInbox(one, dependencies))
  const health = new Health(accounts, async () => {
    const can = await Promise.all(inboxes.map(({ receiver }) => receiver.canStore()))
    return can.every(Boolean)
  })
  const strangers = new Outcomes(logger)
  const paths = inboxes.map(({ path }) => path)
  let worker: RunningWorker | undefined
  const metrics = createAccountMetricsRoute({
    ofProcess: () => ({
      programVersion,
      deliveries: [
        ...inboxes.map(({ account, receiver }) => [account, receiver.outcomes.counts()] as const),
        ...(inboxes.length > 0 ? [[NO_ACCOUNT, strangers.counts()] as const] : []),
      ],
      held: worker?.held() ?? [],
    }),
    ofAccounts: () => readJobs(accounts, names),
  })
  const listed = namesOf(config.hosts)
  const pageRoutes: Record<string, Route> = {
    ...healthRoutes(health),
    '/metrics': forListedHosts(metrics, listed),
    '/accounts': forListedHosts(
      listAccounts(() => readJobs(accounts, names)),
      listed,
    ),
  }
  const routes: Record<string, Route> = {
    ...healthRoutes(health),
    ...Object.fromEntries(
      inboxes.flatMap(({ path, route }) => bothSpellings(path).map((one) => [one, route])),
    ),
  }
  let server: Ports
  try {
    server = await startPorts({
      config,
      routes,
      pageRoutes,
      logger,
      onRefused: (request, status) => {
        if (paths.length > 0) strangers.refusedBefore(request, paths, status)
      },
    })
  } catch (thrown) {
    health.close()
    throw thrown
  }
  const start = async (): Promise<void> => {
    if (!(await awaitWarehouse({ ...dependencies, signal }))) return
    health.enter()
    if (lanes.length > 0) worker = startWorker(dependencies)
    for (const inbox of inboxes) {
      if (signal.aborted) return
      await inbox.open(signal)
    }
  }
  const started = start()
  // An unawaited rejection must not end the process.
  started.catch(() => undefined)
  const stopAll = async (): Promise<void> => {
    health.leave()
    stopping.abort(dependencies.signal.reason)
    const worked = worker?.stop()
    await server.stop(REQUESTS_END_MS)
    await Promise.all(inboxes.map(({ receiver }) => receiver.drain()))
    await started.catch(() => undefined)
    await (worked ?? worker?.stop())
    health.close()
  }
  let ended: Promise<void> | undefined
  const { url, pagesUrl } = server
  return { url, pagesUrl, started, stop: () => (ended ??= stopAll()) }
}

function createInbox(
  { account, path, prepare, create }: AccountReceiver,
  { accounts, logger, sleep }: StartAccountsDependencies,
) {
  const ask = createAsker(accounts, account, logger)
  const receiver = create(ask)
  let isOpen = false
  const route: Route = {
    methods: ['POST'],
    handle: async (request, response) => {
      if (isOpen) await receiver.handle(request, response)
      else answer(request, response, NOT_PREPARED)
    },
  }
  /** A problem of one account closes only its own path. */
  const open = async (signal: AbortSignal): Promise<void> => {
    try {
      isOpen = await awaitWarehouse({ prepare, logger, sleep, signal })
    } catch (error) {
      logger.error('deliveries of an account cannot be stored, and are answered 503', {
        account,
        error,
      })
    }
  }
  return { account, path, receiver, route, open }
}

/**
 * Has a worker process the inbox of an account. Deliveries that come during a request share the
 * next one. If it fails, the rhythm of the inbox remains.
 */
function createAsker(accounts: Warehouse, account: string, logger: Logger): () => void {
  let isAsking = false
  let isWanted = false
  const ask = async (): Promise<void> => {
    isAsking = true
    while (isWanted) {
      isWanted = false
      await askForJob(accounts, account, INBOX_JOB).catch((error: unknown) => {
        logger.warn('a worker could not be asked to apply a delivery', { account, error })
      })
    }
    isAsking = false
  }
  return () => {
    isWanted = true
    if (!isAsking) void ask()
  }
}

/** The table of jobs as JSON. No payloads, no secrets. */
function listAccounts(read: () => Promise<unknown>): Route {
  return {
    methods: ['GET', 'HEAD'],
    handle: async (_request, response) => {
      const text = `${JSON.stringify(await read(), null, 2)}\n`
      answerText(response, { text, type: 'application/json' })
    },
  }
}
