import { silentLogger } from '../../../src/base/logger.js'
import type { Config } from '../../../src/config/settings.js'
import { openQuestionRoutes } from '../../../src/extensions/doors/open-question-routes.js'
import { startHttpServer } from '../../../src/http/http-server.js'
import { createWarehouse } from '../../../src/warehouse/connection/warehouse.js'

export interface OpenDoors {
  /** Of `/questions` and `/mcp`. */
  readonly url: string
  close(): Promise<void>
}

/** The doors of `serve --questions --mcp`, in this process. */
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
  const routes = await openQuestionRoutes(place, { questions: true, mcp: true })
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
