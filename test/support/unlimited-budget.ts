import type { RequestBudget } from '../../src/source/client/request-budget.js'

/** Never waits. */
export const unlimitedBudget: RequestBudget = {
  acquire: () => Promise.resolve(),
  pauseUntil: () => Promise.resolve(),
}
