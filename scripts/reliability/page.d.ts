import type { Catalogue } from './catalogue.js'
import type { Outcome } from './reports.js'

export interface PageRow {
  readonly promise: string
  readonly files: readonly string[]
  readonly proof: string
}
export function renderPage(
  catalogue: Catalogue,
  outcomes: readonly Outcome[],
  longRuns: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>,
): string
export function readPage(text: string): Record<string, PageRow>
export function cell(text: string): string
