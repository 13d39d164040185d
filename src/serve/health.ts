import { monitorEventLoopDelay } from 'node:perf_hooks'
import { answerText } from '../http/answer.js'
import type { Route } from '../http/http-server.js'
import type { Warehouse } from '../warehouse/connection/warehouse.js'
import { within } from './in-time.js'

/** A process whose event loop is blocked for this long is not healthy. */
const LONGEST_LOOP_DELAY_MS = 1_000
const DATABASE_PATIENCE_MS = 2_000

export interface Health {
  /** Answers 200, or 503 when the event loop was blocked for a second since the last question. */
  readonly alive: Route
  /**
   * For load balancers: 200 when the database answers and takes deliveries, the schemas are up to
   * date and the process is not shutting down.
   */
  readonly ready: Route
  /** From now on ready, while the database answers. */
  enter(): void
  /** From now on not ready. */
  leave(): void
  close(): void
}

/** Says only `ok` or `unavailable`: these addresses may be public. */
export function createHealth(warehouse: Warehouse, canStore: () => Promise<boolean>): Health {
  const delay = monitorEventLoopDelay({ resolution: 20 })
  delay.enable()
  let isServing = false
  let isLeaving = false
  const isAlive = (): boolean => {
    const isLate = delay.max / 1e6 > LONGEST_LOOP_DELAY_MS
    delay.reset()
    return !isLate
  }
  return {
    alive: route(() => Promise.resolve(isAlive())),
    ready: route(
      async () =>
        isServing &&
        !isLeaving &&
        (await answers(warehouse)) &&
        (await within(DATABASE_PATIENCE_MS, canStore())) === true,
    ),
    enter: () => {
      isServing = true
    },
    leave: () => {
      isLeaving = true
    },
    close: () => {
      delay.disable()
    },
  }
}

async function answers(warehouse: Warehouse): Promise<boolean> {
  const asked = warehouse.query('answer a health check', 'select 1')
  return (await within(DATABASE_PATIENCE_MS, asked)) !== undefined
}

function route(ask: () => Promise<boolean>): Route {
  return {
    methods: ['GET', 'HEAD'],
    handle: async (_request, response) => {
      const isGood = await ask()
      answerText(response, {
        status: isGood ? 200 : 503,
        type: 'text/plain',
        text: isGood ? 'ok\n' : 'unavailable\n',
      })
    },
  }
}
