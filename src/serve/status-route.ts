import { ConnectorError } from '../base/errors.js'
import type { Logger } from '../base/logger.js'
import { readStatus } from '../status/read-status.js'
import type { Warehouse } from '../warehouse/connection/warehouse.js'
import type { Route } from '../http/http-server.js'
import { formatStatusPage } from '../status/status-page.js'
import { statusSections, type ServingStatus } from '../status/status-sections.js'

/** Counting rows takes seconds on a large account; readers within this time share one answer. */
const KEPT_MS = 15_000

export interface StatusPageOptions {
  readonly warehouse: Warehouse
  readonly serving: () => Promise<ServingStatus>
  readonly logger: Logger
}

/**
 * The route `/`: the status as a page. Shows what `status` shows: no payloads, no secrets. 503, in
 * a few words, while the database is away.
 */
export function createStatusRoute(options: StatusPageOptions): Route {
  const { warehouse, logger } = options
  const title = `tracking-sync: ${warehouse.names.data}`
  let kept: { readonly page: Promise<string>; readonly until: number } | undefined

  async function render(): Promise<string> {
    const sections = statusSections(await readStatus(warehouse), await options.serving())
    return formatStatusPage(title, sections)
  }
  const page = (): Promise<string> => {
    if (kept === undefined || performance.now() > kept.until) {
      const made = render()
      kept = { page: made, until: performance.now() + KEPT_MS }
      made.catch(() => {
        kept = undefined
      })
    }
    return kept.page
  }
  return {
    methods: ['GET', 'HEAD'],
    handle: async (_request, response) => {
      const { status, text } = await page().then(
        (html) => ({ status: 200, text: html }),
        (error: unknown) => {
          if (!(error instanceof ConnectorError)) throw error
          logger.warn('the status page could not be made', { error })
          return { status: 503, text: formatStatusPage(`${title}: no answer of the database`, []) }
        },
      )
      response.writeHead(status, {
        'content-type': 'text/html; charset=utf-8',
        'content-length': Buffer.byteLength(text),
        'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
      })
      response.end(text)
    },
  }
}
