import type { TaskMeta } from 'vitest'

declare module 'vitest' {
  interface TaskMeta {
    /** What docs/reliability.md shows as the last figure of the cases in the name of the test. */
    figure?: string
  }
}

/**
 * Notes what a test measured or how much it played, as `docs/reliability.md` shows it after the next run of all tests: a few
 * words, with the unit. `task` is the one of the test's own context: `test('C21: …', async ({ task }) => …)`.
 */
export function noteFigure(task: { readonly meta: TaskMeta }, figure: string): void {
  task.meta.figure = figure
}
