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
  /** A process has it once, for any number of accounts. */
  readonly isOfProcess?: true
  readonly kind: z.ZodType
  /** Sentences for the documentation and `--help`. */
  readonly meaning: string
}

export type Settings = Readonly<Record<string, Setting>>

/** The checked values of settings. */
export type ValuesOf<Group extends Settings> = Readonly<
  z.output<z.ZodObject<{ [Name in keyof Group]: Group[Name]['kind'] }>>
>

/** The settings of an extension. */
export interface SettingsGroup<Group extends Settings = Settings> {
  readonly settings: Group
  /** Problems of settings that are checked together; the values are not checked yet. */
  problems?(given: Readonly<Partial<Record<keyof Group, unknown>>>): ConfigProblem[]
  /** Texts that must never be printed; empty ones do not count. */
  secrets?(values: ValuesOf<Group>): string[]
}

/** Faults found while the settings are read. No text holds a value. */
export interface Findings {
  readonly problems: ConfigProblem[]
  readonly warnings: string[]
}

/** The variable of a secret that is one account's own: `TRACKING_API_KEY_ACME`. */
export function ownVariable(variable: string, account: string): string {
  return `${variable}_${suffixOf(account).toUpperCase()}`
}

/** The suffix of schemas and variables, which cannot contain hyphens. */
export function suffixOf(account: string): string {
  return account.replaceAll('-', '_')
}
