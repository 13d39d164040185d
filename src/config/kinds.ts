import { createRequire } from 'node:module'
import type * as NodeCron from 'node-cron'
import { z } from 'zod'
import { isFailpointSpec } from '../base/failpoint.js'
import { apiKeyProblem, baseUrlProblem } from '../base/service-address.js'
import { webhookSecretProblem } from '../base/service-address.js'

/** What a setting may be. Every message completes the sentence that begins with its variable. */

export const text = z.string('must be a text')

/** Text that matches; `must` says what is expected: `must be a path like /webhooks`. */
export const matching = (pattern: RegExp, must: string) => text.regex(pattern, must)

const NUMBER = /^-?\d+(?:\.\d+)?$/

/** Plain decimal digits: `z.coerce.number()` would turn an empty text into 0 and `0x10` into 16. */
export function wholeNumber(minimum: number, maximum: number) {
  const problem = `must be a whole number from ${minimum} to ${maximum}`
  return z.preprocess(
    (value) => (typeof value === 'string' && NUMBER.test(value) ? Number(value) : value),
    z.number(problem).int(problem).min(minimum, problem).max(maximum, problem),
  )
}

export const port = (minimum: 0 | 1) => wholeNumber(minimum, 65_535)

/** `z.coerce.boolean()` would turn `"false"` into true. */
export const flag = z.union([z.boolean(), z.stringbool()], 'must be true or false')

export function oneOf<const Values extends readonly [string, ...string[]]>(values: Values) {
  return z.enum(values, `must be one of ${values.join(', ')}`)
}

/** A text in which `problemOf` finds nothing wrong. */
function checked(problemOf: (value: string) => string | undefined) {
  return text.superRefine((value, context) => {
    const problem = problemOf(value)
    if (problem !== undefined) context.addIssue(problem)
  })
}

export const baseUrl = checked(baseUrlProblem)
export const apiKey = checked(apiKeyProblem)
export const webhookSecret = checked(webhookSecretProblem)

export const databaseUrl = text.refine(
  (value) => URL.canParse(value) && /^postgres(?:ql)?:$/.test(new URL(value).protocol),
  'must look like postgres://user:password@host:5432/database',
)

export const schemaName = matching(
  /^[a-z_][a-z0-9_]{0,49}$/,
  'must be 1 to 50 lower-case letters, digits or underscores, not beginning with a digit',
)

export const publicUrl = text.refine((value) => {
  if (!URL.canParse(value)) return false
  const { protocol, username, password, search, hash } = new URL(value)
  const isPlain = [username, password, search, hash].every((part) => part === '')
  return isPlain && (protocol === 'https:' || protocol === 'http:')
}, 'must be an http:// or https:// URL without user name, query or fragment')

export const cron = text.refine(
  (value) => value === 'off' || isCronExpression(value),
  'must be a cron expression like */15 * * * *, or off',
)

/** Loads the package only for a given value; defaults are not parsed. */
function isCronExpression(value: string): boolean {
  const { validate } = createRequire(import.meta.url)('node-cron') as typeof NodeCron
  return validate(value)
}

export const timeZone = text.refine((value) => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: value })
    return true
  } catch {
    return false
  }
}, 'must be an IANA time zone like Europe/Berlin')

export const failpoint = text.refine(isFailpointSpec, 'must name a failpoint, like mid_batch:3')
