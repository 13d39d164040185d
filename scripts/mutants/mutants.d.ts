interface Edit {
  readonly file: string
  /** Stands once in the file. */
  readonly from: string
  readonly to: string
}

export interface Mutant extends Edit {
  /** The guard that is taken out, in words. */
  readonly safeguard: string
  /** A second guard that would keep the promise alone. */
  readonly also?: readonly Edit[]
  readonly test: { readonly file: string; readonly id: string }
  /** The test runs the built program. */
  readonly isBuilt?: boolean
}

type NamedEdit = Edit & Pick<Mutant, 'safeguard'>

export function readMutants(root: string): Mutant[]
export function editsOf(mutant: Mutant): NamedEdit[]
export function applyEdit(text: string, edit: NamedEdit): string
