import type { z } from 'zod'
import type { ConfigProblem } from '../base/errors.js'

/** One setting: its names, its kind and its meaning. */
export interface Setting {
  readonly variable: string
  /**
   * The flag, if it is not named after the variable, as `--run-minutes` is after
   * `TRACKING_RUN_MINUTES`.
   */
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
