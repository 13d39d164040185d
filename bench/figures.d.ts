import type { Targets } from '../scripts/documents/performance-page.js'

export const FIGURES: Targets
