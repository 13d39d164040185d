import type { Mutant } from './mutants.js'

export interface DrawnPromise {
  readonly id: string
  readonly mutants: readonly Mutant[]
}

export function drawPromises(
  groups: Readonly<Record<string, { readonly promises: Readonly<Record<string, string>> }>>,
  mutants: readonly Mutant[],
  options: { readonly count: number; readonly seed: number },
): DrawnPromise[]
