import type { NamedTest } from './test-names.js'

export interface Report {
  readonly path: string
  readonly startTime: number
  readonly tests: readonly {
    readonly file: string
    readonly titles: readonly string[]
    readonly status: string
    readonly figure?: string
  }[]
}
export interface Outcome {
  readonly test: NamedTest
  readonly cases: number
  readonly figures: readonly string[]
}
export function judge(
  sourceTests: readonly NamedTest[],
  report: Report,
): { outcomes: Outcome[]; problems: string[] }
