import type { z } from 'zod'

/** One setting: how it is given, what it may be, and what it means. */
export interface Setting {
  readonly variable: string
  /** Where it is not named after the variable, as `--page-size` after `TRACKING_PAGE_SIZE`. */
  readonly flag?: string
  /** It has no flag: every account of a machine can read its command lines. */
  readonly isSecret?: true
  /** Only for tests: an environment variable that no list of settings shows. */
  readonly isHidden?: true
  readonly kind: z.ZodType
  /** Sentences for the documentation and `--help`. */
  readonly meaning: string
}
