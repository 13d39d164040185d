import type { RequestBudget } from '../../src/api/request-budget.js'

/** Never waits. */
export const unlimitedBudget: RequestBudget = {
  acquire: () => Promise.resolve(),
  pauseUntil: () => Promise.resolve(),
}
