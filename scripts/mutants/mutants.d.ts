export interface Mutant {
  /** What is taken out, in words. */
  readonly safeguard: string
  readonly file: string
  /** Stands once in the file. */
  readonly from: string
  readonly to: string
  readonly test: { readonly file: string; readonly id: string }
  /** The test runs the built program. */
  readonly isBuilt?: boolean
}

export function readMutants(root: string): Mutant[]
export function applyEdit(text: string, mutant: Mutant): string
