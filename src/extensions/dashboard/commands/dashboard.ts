import { once } from 'node:events'
import { EXIT_CODES } from '../../../base/exit-code.js'
import { namesOf, onListedHosts } from '../../../http/listed-hosts.js'
import { declare } from '../../../commands/declare-command.js'
import { formatCsv } from '../../answers/output/print-answer.js'

/** The time limit of each panel: the page comes without it, and asks again. */
export const DASHBOARD_TIMEOUT_MS = 60_000

const GRACE_MS = 2_000

export const dashboard = declare({
  name: 'dashboard',
  help:
    'Show the warehouse in pictures on a page for a browser, until it is stopped. ' +
    'It also answers the questions, at /questions. Reads only. `serve` shows the same page.',
  json: false,
  settings: ['host', 'hosts', 'httpPort', 'syncCron', 'cronTimeZone', 'rateLimitPerMinute'],
  ofExtension: ['pageTitle', 'pageLogo'],
  takes: {},
  run: async (app, _given, io) => {
    const { config, logger, signal } = app
    const { startHttpServer } = await import('../../../http/http-server.js')
    const { createDashboardRoutes } = await import('../dashboard-routes.js')
    const { readBrand } = await import('../dashboard-settings.js')
    const { numberPageOf } = await import('../../answers/number-page.js')
    const { openPageGuard } = await import('../../doors/open-guard.js')
    const { openQuestionRoutes } = await import('../../doors/open-question-routes.js')
    const { readStatus } = await import('../../../status/read-status.js')
    const { describeStatus } = await import('../../../status/describe-status.js')
    const { slotsOf } = await import('../../../status/read-vitals.js')
    const opened = await app.openWarehouse()
    await app.keepReader(opened)
    const counted = await app.connect({ isReadOnly: true, poolSize: 1 })
    const warehouse = await app.connectReader({
      statementTimeoutMs: DASHBOARD_TIMEOUT_MS,
      poolSize: 2,
    })
    const pages = createDashboardRoutes({
      ...readBrand(config),
      pageOf: numberPageOf(config),
      warehouse,
      readStatus: () => readStatus(counted),
      logger,
      formatCsv,
      guard: await openPageGuard(app),
      readsAhead: { until: signal },
      facts: async () => ({
        slots: slotsOf(config),
        isServing: false,
        freeDiskBytes: await app.freeDiskBytes(),
      }),
      describe: (status) => describeStatus(status, config.rateLimitPerMinute),
    })
    const questions = await openQuestionRoutes(app, { questions: true, mcp: false })
    const routes = onListedHosts({ ...pages, ...questions }, namesOf(config.hosts))
    const { host, httpPort } = config
    const server = await startHttpServer({ host, httpPort, routes, logger })
    // The first page need not wait for what draws it.
    await import('../page.js')
    io.print(`the dashboard is at ${server.url}; Ctrl+C ends it`)
    if (!signal.aborted) await once(signal, 'abort')
    await server.stop(GRACE_MS)
    return EXIT_CODES.complete
  },
})
