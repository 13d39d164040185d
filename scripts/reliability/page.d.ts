import type { Catalogue } from './catalogue.js'
import type { TaggedTest } from './test-tags.js'

export function renderPage(
  catalogue: Omit<Catalogue, 'findings'>,
  tests: readonly TaggedTest[],
): string
