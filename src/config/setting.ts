import type { z } from 'zod'
import type { ConfigProblem } from '../base/errors.js'

/** One setting: how it is given, what it may be, and what it means. */
export interface Setting {
  readonly variable: string
  /** Where it is not named after the variable, as `--run-minutes` after `TRACKING_RUN_MINUTES`. */
  readonly flag?: string
  /** A secret cannot be given by a flag: every account of a machine can read its command lines. */
  readonly isSecret?: true
  readonly kind: z.ZodType
  /** Sentences for the documentation and `--help`. */
  readonly meaning: string
}

/** Faults found while the settings are read. No text holds a value. */
export interface Findings {
  readonly problems: ConfigProblem[]
  readonly warnings: string[]
}
