import type { Mutant } from '../mutants/mutants.js'
import type { TaggedTest } from './test-tags.js'

/** Carried by a test that `npm test` leaves to `npm run test:release`. */
export const RELEASE: 'release'

type Sentences = Readonly<Record<string, string>>
export interface Catalogue {
  readonly groups: Readonly<
    Record<string, { readonly title: string; readonly promises: Sentences }>
  >
  readonly reasons: Sentences
  readonly findings: Sentences
  readonly longParts: Readonly<
    Record<
      string,
      {
        readonly files: readonly string[]
        /** `npm test` leaves these files out: they take long at any scale. */
        readonly isLongOnly?: boolean
      }
    >
  >
  readonly mutants: readonly Mutant[]
  /** The last result of `npm run test:stranger -- --publish`. */
  readonly stranger?: StrangersResult
}
interface StrangersResult {
  readonly differences: readonly {
    readonly what: string
    readonly table: string
    readonly column: string
    /** Values of the last run that differ in this way. */
    readonly count: number
    readonly reason: string
  }[]
  /** Expectations taken over from the program: they prove nothing. */
  readonly takenOver: readonly string[]
  readonly notCompared: readonly { readonly tables: readonly string[]; readonly reason: string }[]
  readonly lastRun: {
    readonly on: string
    readonly seed: number
    readonly shipments: number
    readonly days: number
    readonly runs: number
    readonly kills: number
    readonly differences: number
    readonly faults: Readonly<Record<string, number>>
    readonly tables: Readonly<Record<string, { readonly rows: number; readonly values: number }>>
  }
}
export function readCatalogue(root: string): Catalogue
export function sentencesOf(catalogue: Pick<Catalogue, 'groups' | 'findings'>): Sentences
export function problemsOfTags(
  catalogue: Omit<Catalogue, 'longParts' | 'mutants' | 'stranger'>,
  tests: readonly TaggedTest[],
): string[]
