import { sql } from 'kysely'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { answerText } from '../http/answer.js'
import type { Route } from '../http/http-server.js'
import type { Warehouse } from '../warehouse/connection/warehouse.js'
import { within } from '../base/in-time.js'

/** A process whose event loop is blocked for this long is not healthy. */
const LONGEST_LOOP_DELAY_MS = 1_000
const DATABASE_PATIENCE_MS = 2_000

/** Says only `ok` or `unavailable`: these addresses may be public. */
export class Health {
  /** Answers 200, or 503 when the event loop was blocked for a second since the last question. */
  readonly alive = route(() => Promise.resolve(this.#isAlive()))
  /**
   * For load balancers: 200 when the database answers and takes deliveries, the schemas are up to
   * date and the process is not shutting down.
   */
  readonly ready = route(() => this.#isReady())
  readonly #warehouse: Warehouse
  readonly #canStore: () => Promise<boolean>
  readonly #delay = monitorEventLoopDelay({ resolution: 20 })
  #isServing = false
  #isLeaving = false

  constructor(warehouse: Warehouse, canStore: () => Promise<boolean>) {
    this.#warehouse = warehouse
    this.#canStore = canStore
    this.#delay.enable()
  }

  /** From now on ready, while the database answers. */
  enter(): void {
    this.#isServing = true
  }

  /** From now on not ready. */
  leave(): void {
    this.#isLeaving = true
  }

  close(): void {
    this.#delay.disable()
  }

  #isAlive(): boolean {
    const isLate = this.#delay.max / 1e6 > LONGEST_LOOP_DELAY_MS
    this.#delay.reset()
    return !isLate
  }

  async #isReady(): Promise<boolean> {
    if (!this.#isServing || this.#isLeaving) return false
    const asked = this.#warehouse.query('answer a health check', sql`select 1`)
    if ((await within(DATABASE_PATIENCE_MS, asked)) === undefined) return false
    return (await within(DATABASE_PATIENCE_MS, this.#canStore())) === true
  }
}

function route(ask: () => Promise<boolean>): Route {
  return {
    methods: ['GET', 'HEAD'],
    handle: async (_request, response) => {
      const isGood = await ask()
      const text = isGood ? 'ok\n' : 'unavailable\n'
      answerText(response, { status: isGood ? 200 : 503, type: 'text/plain', text })
    },
  }
}
