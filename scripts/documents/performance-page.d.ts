interface Target {
  readonly what: string
  readonly unit?: string
  readonly reach: number
  readonly then: number
  readonly isMoreBetter?: boolean
}

interface Kept {
  readonly value: number
  readonly said: string
  readonly on: string
}

export type Targets = Readonly<Record<string, Target>>
type KeptFigures = Readonly<Partial<Record<string, Kept>>>

export function withTable(page: string, targets: Targets, kept: KeptFigures): string
export function performanceTable(targets: Targets, kept: KeptFigures): string
export function performanceChart(targets: Targets, kept: KeptFigures): string
