import { InvalidArgumentError } from 'commander'
import { instantText, wholeNumber } from '../../../commands/declare-command.js'
import {
  QUERY_DEFAULTS,
  QUERY_PARAMETERS,
  type ParameterDeclaration,
  type QueryParameter,
} from '../questions/query-parameters.js'
import type { ShippedQuery } from '../questions/shipped-queries.js'

/** A filter of a question, as JSON Schema describes its value. */
export interface QuestionParameter {
  readonly name: QueryParameter
  readonly description: string
  readonly schema: ParameterSchema
}

export interface ParameterSchema {
  readonly type: 'string' | 'integer'
  readonly enum?: readonly string[]
  readonly pattern?: string
  readonly minLength?: number
  readonly minimum?: number
  readonly default?: string | number
}

/** The filters of one question, in the order of the command line. */
export function questionParameters({
  parameters,
}: Pick<ShippedQuery, 'parameters'>): QuestionParameter[] {
  return parameters.map((name) => ({
    name,
    description: QUERY_PARAMETERS[name].help,
    schema: schemaOf(QUERY_PARAMETERS[name], QUERY_DEFAULTS[name]),
  }))
}

/** A day, or a time; `instantText` checks the rest. */
export const INSTANT_SCHEMA = { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\d' } as const

function schemaOf(
  { form, words }: ParameterDeclaration,
  byDefault: string | undefined,
): ParameterSchema {
  if (words !== undefined) return { type: 'string', enum: words }
  if (form === 'instant') return INSTANT_SCHEMA
  if (form === 'name=value') return { type: 'string', pattern: '^[^=]+=' }
  if (form === undefined) return { type: 'string', minLength: 1 }
  const number = { type: 'integer', minimum: 0 } as const
  return byDefault === undefined ? number : { ...number, default: Number(byDefault) }
}

/**
 * Checks a value that PostgreSQL would refuse only after everything was opened. Other values are
 * free text. Throws InvalidArgumentError.
 */
export function checkParameter(name: QueryParameter, text: string): string {
  const { form } = QUERY_PARAMETERS[name]
  if (form === 'instant') return instantText(text)
  if (form === 'count') return String(wholeNumber(0, Number.MAX_SAFE_INTEGER)(text))
  if (form !== 'name=value' || /^[^=]+=/.test(text)) return text
  throw new InvalidArgumentError('It must be a name and a value, like department=Garden.')
}
