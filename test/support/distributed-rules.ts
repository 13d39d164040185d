import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Schemas whose tables are on a node once a warehouse is distributed. */
const AWAY =
  /"?tracking(?:_analytics)?"?\."?(\w+)"?|"?tracking_sync"?\."?(event_lists_in_doubt|transport_event_checks)"?/g
const HERE = /"?tracking_sync"?\."?(?!event_lists_in_doubt|transport_event_checks)(\w+)"?/g

/** Functions of the bookkeeping that read no table: they run on the nodes too. */
const functions = new Set(
  readdirSync(fileURLToPath(new URL('../../sql/migrations/', import.meta.url)))
    .map((name) =>
      readFileSync(fileURLToPath(new URL(`../../sql/migrations/${name}`, import.meta.url)), 'utf8'),
    )
    .flatMap((text) => [...text.matchAll(/create function \{\{sync\}\}\.(\w+)/g)])
    .map(([, name = '']) => name),
)

export interface Reach {
  /** Its tables that are on a node. */
  readonly away: readonly string[]
  /** Tables it names that stay where commands connect. */
  readonly here: readonly string[]
}

export function reachOf(statement: string): Reach {
  const code = withoutTexts(statement)
  const names = (pattern: RegExp): string[] =>
    [...new Set([...code.matchAll(pattern)].map(([, one, other]) => one ?? other ?? ''))]
      .filter((name) => !functions.has(name))
      .sort()
  return { away: names(AWAY), here: names(HERE) }
}

function withoutTexts(statement: string): string {
  return statement.replace(/'(?:[^']|'')*'|--.*$/gm, (text) => (text.startsWith('--') ? '' : `''`))
}

const CHANGING =
  /\b(?:clock_timestamp|statement_timestamp|random|gen_random_uuid|nextval|timeofday)\s*\(/
const TIMELY =
  /\b(?:now|clock_timestamp|statement_timestamp|random|current_setting)\s*\(|\bcurrent_timestamp\b/

/** Reasons why a node of Citus refuses the statement, from its text: one sentence each. */
export function brokenRules(statement: string): string[] {
  const { away } = reachOf(statement)
  if (away.length === 0) return []
  const code = withoutTexts(statement).toLowerCase()
  const broken: string[] = []
  if (/\bmerge\s+into\b/.test(code)) broken.push('it merges')
  for (const [, set = ''] of code.matchAll(/\bdo update\s+set\b([\s\S]*?)(?:\breturning\b|$)/g)) {
    if (TIMELY.test(set)) broken.push('it takes a time or chance in do update')
    if (/\(\s*select\b/.test(set)) broken.push('it has a subquery in do update')
  }
  for (const [, set = ''] of code.matchAll(
    /\bupdate\s+\S+(?:\s+as\s+\w+)?\s+set\b([\s\S]*?)(?:\bwhere\b|$)/g,
  )) {
    if (CHANGING.test(set)) broken.push('it sets what a volatile function gives')
    for (const [choice] of set.matchAll(
      /\bcase\b[\s\S]*?\bend\b|\bcoalesce\s*\([^()]*\([^()]*\)/g,
    )) {
      if (TIMELY.test(choice)) broken.push('it takes a time or chance in a case')
    }
  }
  for (const [, answer = ''] of code.matchAll(/\breturning\b([\s\S]*?)(?:\)|$)/g)) {
    if (TIMELY.test(answer)) broken.push('it returns a time or chance')
  }
  if (/\bset\s+(?:local\s+)?role\b/.test(code)) broken.push('it takes a role')
  const indexes = code.matchAll(/\bcreate\s+(?:unique\s+)?index\b[\s\S]*?\bon\s+(\S+)/g)
  if (
    /;\s*\S/.test(code) &&
    [...indexes].some(([, table = '']) => reachOf(table).away.length > 0)
  ) {
    broken.push('it creates an index among other statements')
  }
  if (/\bcreate\s+(?:constraint\s+)?trigger\b/.test(code)) broken.push('it creates a trigger')
  if (/\b(?:ctid|tableoid)\b/.test(code)) broken.push('it asks where a row lies')
  return broken
}
