import { ConnectorError } from '../base/errors.js'
import type { Logger } from '../base/logger.js'
import type { RequestBudget } from './request-budget.js'

export interface FallbackBudgetOptions {
  /** Called once, before the first request. Undefined where nobody shares one. */
  readonly openShared: () => Promise<RequestBudget | undefined>
  /** Counts for this process alone. */
  readonly own: RequestBudget
  readonly logger: Logger
}

/**
 * The budget that all processes share where it can be reached, and one of our own where it cannot: for commands that need the service and not the warehouse.
 * From the first error of the shared one on, our own counts alone. What is asked for no purpose is `control`.
 */
export function createFallbackBudget(options: FallbackBudgetOptions): RequestBudget {
  const { openShared, own, logger } = options
  let isAlone = false
  let opening: Promise<RequestBudget | undefined> | undefined

  async function withBudget(
    work: (budget: RequestBudget) => Promise<void>,
    signal?: AbortSignal,
  ): Promise<void> {
    if (!isAlone) {
      try {
        const shared = await (opening ??= openShared())
        if (shared !== undefined) {
          await work(shared)
          return
        }
      } catch (error) {
        signal?.throwIfAborted()
        if (!(error instanceof ConnectorError)) throw error
        logger.debug('the shared request budget cannot be asked', { error })
      }
      isAlone = true
    }
    await work(own)
  }

  return {
    acquire: ({ signal, purpose = 'control' } = {}) =>
      withBudget((budget) => budget.acquire({ signal, purpose }), signal),
    pauseUntil: (instant) => withBudget((budget) => budget.pauseUntil(instant)),
  }
}
