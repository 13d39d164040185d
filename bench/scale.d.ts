export interface Day {
  readonly requests: number
  readonly cpuSeconds: number
  readonly syncSeconds: number
}

export function dayOf(containers: number): Day

export function simulateWorkers(work: {
  readonly accounts: number
  readonly containers: number
  readonly places: number
}): { readonly onTimeShare: number; readonly lateP99Seconds: number }

export function scale(): readonly unknown[]

export function formatScale(scenarios: readonly unknown[]): string

export function largestAccount(): number
