import type { NamedTest } from './test-names.js'

export interface Catalogue {
  readonly groups: Readonly<
    Record<string, { readonly title: string; readonly promises: Readonly<Record<string, string>> }>
  >
  readonly ids: readonly string[]
  readonly reasons: Readonly<Record<string, string>>
}
export function readCatalogue(root: string): Catalogue
export function problemsOfNames(
  catalogue: Pick<Catalogue, 'ids' | 'reasons'>,
  tests: readonly NamedTest[],
): string[]
