import type { TaggedTest } from './test-tags.js'

type Sentences = Readonly<Record<string, string>>
export interface Catalogue {
  readonly groups: Readonly<
    Record<string, { readonly title: string; readonly promises: Sentences }>
  >
  readonly reasons: Sentences
  readonly findings: Sentences
  readonly longParts: Readonly<
    Record<string, { readonly env: Sentences; readonly files: readonly string[] }>
  >
}
export function readCatalogue(root: string): Catalogue
export function sentencesOf(catalogue: Pick<Catalogue, 'groups' | 'findings'>): Sentences
export function problemsOfTags(
  catalogue: Omit<Catalogue, 'longParts'>,
  tests: readonly TaggedTest[],
): string[]
