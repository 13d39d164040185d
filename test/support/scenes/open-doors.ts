import { silentLogger } from '../../../src/base/logger.js'
import type { Config } from '../../../src/config/settings.js'
import type { PageSources } from '../../../src/extension.js'
import { dashboardExtension } from '../../../src/extensions/dashboard/dashboard-extension.js'
import { openQuestionRoutes } from '../../../src/extensions/doors/open-question-routes.js'
import { startHttpServer } from '../../../src/http/http-server.js'
import { readStatus } from '../../../src/status/read-status.js'
import { createWarehouse } from '../../../src/warehouse/connection/warehouse.js'

export interface OpenDoors {
  /** Of `/questions`, `/mcp` and the dashboard. */
  readonly url: string
  close(): Promise<void>
}

/** The doors and pages of `serve --questions --mcp`, in this process. */
export async function openDoors(databaseUrl: string): Promise<OpenDoors> {
  const closers: (() => Promise<unknown>)[] = []
  const connect = (choice: { readonly poolSize: number; readonly statementTimeoutMs: number }) => {
    const options = { url: databaseUrl, schema: 'tracking', logger: silentLogger, ...choice }
    const warehouse = createWarehouse(options)
    closers.push(() => warehouse.close())
    return Promise.resolve(warehouse)
  }
  const place = {
    config: { hosts: undefined, numberPage: 'off', preset: {} } as unknown as Config,
    logger: silentLogger,
    programVersion: '1.2.3',
    connectReader: connect,
    connect,
    onClose: (close: () => Promise<void>) => closers.push(close),
  }
  const createPages = await dashboardExtension.pages?.(place)
  const program = await connect({ poolSize: 1, statementTimeoutMs: 5_000 })
  const pages = createPages?.({
    logger: silentLogger,
    readStatus: () => readStatus(program),
    serving: () => ({ slots: { cron: 'off', timeZone: 'UTC' } }),
    freeDiskBytes: () => Promise.resolve(undefined),
  } as unknown as PageSources)
  const routes = { ...pages, ...(await openQuestionRoutes(place, { questions: true, mcp: true })) }
  // Clients and server share a process: one that is busy is slow on both sides.
  const limits = { headersTimeoutMs: 60_000, requestTimeoutMs: 60_000 }
  const server = await startHttpServer({ httpPort: 0, routes, logger: silentLogger, limits })
  return {
    url: server.url,
    close: async () => {
      await server.stop(1_000)
      for (const close of closers.reverse()) await close()
    },
  }
}
