import pg from 'pg'
import { afterAll } from 'vitest'

/** By shape the first statement of it, without its values. */
const shapes = new Map<string, string>()
const seen = new Set<string>()
const grown: string[] = []

/** PostgreSQL takes 65,535; the widest table has not half as many columns as this. */
const MOST_PARAMETERS = 250

/** A statement without its values: parameters, literals, numbers and casts of parameters. */
function withoutValues(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/'(?:[^']|'')*'|\$\d+|\b\d+\b/g, '?')
    .replace(/\?::[a-z][\w. ]*?(\[\])?(?=[,)]| (?:and|or|as|from|where)\b|$)/g, '?$1')
}

/**
 * The common shape of statements that differ only in the number of records in a list: `in ($1, $2)`
 * and `in ($1)`, `values ($1, $2), ($3, $4)` and `values ($1, $2)`, and the same with literals.
 */
function shapeOf(bare: string): string {
  let shape = bare
  for (;;) {
    const shorter = shape
      .replace(/(\?(?:\[\])?)(?:, ?\1)+/g, '$1')
      .replace(/(\((?:[^()]|\([^()]*\))*\))(?:, ?\1)+/g, '$1')
    if (shorter === shape) return shape
    shape = shorter
  }
}

/**
 * The fault of a statement, if any: it has more or fewer values than another statement of its
 * shape.
 */
export function recordStatement(text: string, parameters = 0): string | undefined {
  if (parameters > MOST_PARAMETERS) return `${parameters} parameters: ${text.slice(0, 300)}`
  if (seen.has(text)) return undefined
  seen.add(text)
  const bare = withoutValues(text)
  const shape = shapeOf(bare)
  const first = shapes.get(shape)
  if (first === undefined) shapes.set(shape, bare)
  if (first === undefined || first === bare) return undefined
  return `${bare.slice(0, 400)}\n  and\n${first.slice(0, 400)}`
}

type Query = (this: pg.Client, ...args: readonly unknown[]) => unknown

const RECORDED = Symbol.for('tracking-sync statements are recorded')

/**
 * Looks at every statement of this process: one whose number of parameters differs with the number
 * of records fails at 65,535. A set-up file of the tests that need PostgreSQL, so that all of them
 * contribute.
 */
const prototype = pg.Client.prototype as unknown as { query: Query & { [RECORDED]?: true } }
if (prototype.query[RECORDED] !== true) {
  const query = prototype.query
  const recording: Query & { [RECORDED]?: true } = function (this: pg.Client, ...args) {
    const [config, values] = args
    const isText = typeof config === 'string'
    const text = isText ? config : (config as { text?: unknown } | null)?.text
    const list = isText ? values : ((config as { values?: unknown } | null)?.values ?? values)
    if (typeof text === 'string') {
      const problem = recordStatement(text, Array.isArray(list) ? list.length : 0)
      if (problem !== undefined) grown.push(problem)
    }
    return query.apply(this, [...args])
  }
  recording[RECORDED] = true
  prototype.query = recording
}

/** Every statement of this process while `work` goes on. */
export async function collectStatements(work: () => Promise<void>): Promise<readonly string[]> {
  const collected = new Set<string>()
  const { query } = prototype
  prototype.query = function (this: pg.Client, ...args) {
    const [config] = args
    const text = typeof config === 'string' ? config : (config as { text?: unknown } | null)?.text
    if (typeof text === 'string') collected.add(text)
    return query.apply(this, [...args])
  }
  try {
    await work()
  } finally {
    prototype.query = query
  }
  return [...collected]
}

afterAll(() => {
  const problems = grown.splice(0)
  if (problems.length === 0) return
  throw new Error(
    `statements with parameters that grow with data; pass an array:\n${problems.join('\n')}`,
  )
})
