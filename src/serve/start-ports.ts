import type { Logger } from '../base/logger.js'
import type { Config } from '../config/settings.js'
import { startHttpServer, type HttpServer, type HttpServerOptions } from '../http/http-server.js'

/** Connections to the pages: the receiver has its own, five times as many. */
const PAGE_CONNECTIONS = 100

export interface Ports {
  /** Of webhooks and health. */
  readonly url: string
  readonly pagesUrl: string
  /** See `HttpServer`. */
  stop(graceMs: number): Promise<void>
}

export interface PortsOptions extends Pick<HttpServerOptions, 'routes' | 'onRefused'> {
  readonly config: Pick<Config, 'host' | 'httpPort' | 'pagesHost' | 'pagesPort'>
  readonly pageRoutes: HttpServerOptions['routes']
  readonly logger: Logger
}

/**
 * Starts a port for the service and one for the pages: what opens the first to the internet opens
 * no page, and readers of pages take no connection of a delivery. Throws ConfigError where one of
 * the addresses cannot be taken.
 */
export async function startPorts({ config, pageRoutes, ...others }: PortsOptions): Promise<Ports> {
  const { host, httpPort, pagesHost, pagesPort } = config
  const receiving = await startHttpServer({ host, httpPort, ...others })
  let pages: HttpServer
  try {
    pages = await startHttpServer({
      host: pagesHost,
      httpPort: pagesPort,
      settings: { host: 'TRACKING_PAGES_HOST', httpPort: 'TRACKING_PAGES_PORT' },
      routes: pageRoutes,
      logger: others.logger,
      limits: { connections: PAGE_CONNECTIONS },
    })
  } catch (thrown) {
    await receiving.stop(0)
    throw thrown
  }
  return {
    url: receiving.url,
    pagesUrl: pages.url,
    stop: async (graceMs) => {
      await Promise.all([receiving.stop(graceMs), pages.stop(graceMs)])
    },
  }
}
