import type { TaggedTest } from './test-tags.js'

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
}
export function readCatalogue(root: string): Catalogue
export function sentencesOf(catalogue: Pick<Catalogue, 'groups' | 'findings'>): Sentences
export function problemsOfTags(
  catalogue: Omit<Catalogue, 'longParts'>,
  tests: readonly TaggedTest[],
): string[]
