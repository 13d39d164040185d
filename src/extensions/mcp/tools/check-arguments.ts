import { ConfigError } from '../../../base/errors.js'
import { suggest } from '../../../base/phrases.js'
import { WORDS, type Arguments, type ArgumentSchema, type Tool } from './tool.js'

/** Characters: results repeat a value, and a model reads them. */
const MOST_OF_VALUE = 1_000
const MOST_OF_STATEMENT = 100_000

/**
 * Checks the arguments of a call as the tool's schema says. Throws ConfigError with one sentence
 * and the fix. Left to the questions themselves: their names, and the filters that each takes.
 */
export function checkArguments(tool: Tool, given: Arguments): void {
  const names = Object.keys(tool.arguments)
  for (const name of Object.keys(given)) {
    if (names.includes(name)) continue
    const takes = names.length === 0 ? 'no arguments' : names.join(', ')
    throw refuse(
      name,
      `is not an argument of ${tool.name}, which takes ${takes}${suggest(name, names)}`,
    )
  }
  for (const name of tool.required) {
    if (given[name] !== undefined) continue
    const fix = name === 'question' ? `; ${WORDS.list}` : ''
    throw refuse(name, `is missing, and ${tool.name} needs it${fix}`)
  }
  for (const [name, value] of Object.entries(given)) {
    const schema = tool.arguments[name]
    if (schema !== undefined && value !== undefined) checkValue(name, value, schema)
  }
}

function checkValue(name: string, value: unknown, schema: ArgumentSchema): void {
  if (schema.type === 'object') {
    if (!isObject(value)) throw refuse(name, 'is an object of names and values')
    for (const [inner, one] of Object.entries(value)) {
      const of = schema.properties[inner]
      if (of !== undefined) checkValue(`${name}.${inner}`, one, of)
      else if (inner === 'limit') throw refuse(`${name}.limit`, `belongs beside ${name}, as limit`)
      else if (!isScalar(one)) throw refuse(`${name}.${inner}`, 'is a text or a number')
    }
    return
  }
  if (schema.type === 'array') {
    if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return
    throw refuse(name, 'is a list of texts')
  }
  if (!isScalar(value)) throw refuse(name, schema.type === 'integer' ? 'is a number' : 'is a text')
  if (value === '') throw refuse(name, 'is empty; leave it out, or give it a value')
  if (String(value).includes('\0')) throw refuse(name, 'has a NUL, which no text here has')
  const { length } = String(value)
  const most = name === 'statement' ? MOST_OF_STATEMENT : MOST_OF_VALUE
  if (length > most) throw refuse(name, `has ${length} characters, and ${most} is the most`)
  const { maximum, minimum = 0 } = schema
  if (maximum === undefined) return
  if (!Number.isInteger(Number(value)) || Number(value) < minimum) {
    throw refuse(name, `is ${JSON.stringify(value)}; it is a whole number from ${minimum} on`)
  }
  if (Number(value) > maximum) {
    const problem = `is ${value}, and ${maximum} is the most; narrow the question with filters`
    throw refuse(name, problem)
  }
}

function isScalar(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number'
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function refuse(setting: string, problem: string): ConfigError {
  return new ConfigError([{ setting, problem }])
}
