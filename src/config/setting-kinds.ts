import { z } from 'zod'

/** How a setting is addressed from outside, and whether its value must never be shown. */
export interface SettingMeta {
  readonly variable: string
  /** Long flag on the command line; secrets have none, because command lines are public on a machine. */
  readonly flag?: string
  readonly isSecret?: boolean
}

/** One setting: what it may be, how it is addressed, and what it means, in a sentence for the documentation. */
export function setting<Schema extends z.ZodType>(
  schema: Schema,
  meta: SettingMeta,
  meaning: string,
): Schema {
  return schema.describe(meaning).meta({ ...meta })
}

const NUMBER = /^-?\d+(?:\.\d+)?$/

/** `z.coerce.number()` turns an empty text into 0 and `0x10` into 16; only plain decimal digits are a number here. */
export function wholeNumber(minimum: number, maximum: number) {
  const problem = `must be a whole number from ${minimum} to ${maximum}`
  return z.preprocess(
    (value) => (typeof value === 'string' && NUMBER.test(value) ? Number(value) : value),
    z.number(problem).int(problem).min(minimum, problem).max(maximum, problem),
  )
}

/** `z.coerce.boolean()` turns `"false"` into true. */
export function flag() {
  const problem = 'must be true or false'
  return z.union([z.boolean(), z.stringbool()], problem)
}

export function oneOf<const Values extends readonly [string, ...string[]]>(values: Values) {
  return z.enum(values, `must be one of ${values.join(', ')}`)
}

export const text = z.string('must be a text')
