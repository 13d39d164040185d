import { ConfigError } from '../../base/errors.js'

/** What a statement that only reads begins with. */
const READS = ['select', 'values', 'with', 'table']

/** Volatile because their answer changes, not because they change anything. */
const HARMLESS = [
  'clock_timestamp',
  'gen_random_uuid',
  'pg_column_size',
  'pg_database_size',
  'pg_indexes_size',
  'pg_relation_size',
  'pg_sleep',
  'pg_table_size',
  'pg_total_relation_size',
  'random',
  'timeofday',
  'uuidv4',
  'uuidv7',
]

/** Space, comments, texts and numbers, which hold no name; then names, quoted or not. */
const TOKEN =
  /--[^\n\r]*|(?<comment>\/\*)|(?:[eE]|[uU]&|[bBxXnN])?'(?:[^']|'')*'|(?<dollar>\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$)|[uU]&"(?<escaped>)(?:[^"]|"")*"|"(?<quoted>(?:[^"]|"")*)"|(?<name>[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)|\s+|\d+|./gsu

interface Words {
  readonly first: string
  /** Names that a parenthesis follows: functions are called by no other syntax. */
  readonly called: readonly string[]
}

/** The words of a statement as PostgreSQL reads them, with standard_conforming_strings on. */
export function wordsOf(sqlText: string): Words {
  const tokens = new RegExp(TOKEN)
  const called = new Set<string>()
  let first: string | undefined
  let last: string | undefined
  for (let match = tokens.exec(sqlText); match !== null; match = tokens.exec(sqlText)) {
    const [text] = match
    const { comment, dollar, escaped, quoted, name } = match.groups ?? {}
    if (comment !== undefined) {
      tokens.lastIndex = endOfComment(sqlText, tokens.lastIndex)
    } else if (dollar !== undefined) {
      const end = sqlText.indexOf(dollar, tokens.lastIndex)
      tokens.lastIndex = end === -1 ? sqlText.length : end + dollar.length
      last = undefined
    } else if (escaped !== undefined) {
      throw refused('names are not written U&"…" here')
    } else if (name !== undefined || quoted !== undefined) {
      // PostgreSQL folds the letters A to Z of a name without quotes.
      last = name?.toLowerCase() ?? quoted?.replaceAll('""', '"') ?? ''
      first ??= name === undefined ? text : last
    } else if (text === '(') {
      first ??= text
      if (last !== undefined) called.add(last)
      last = undefined
    } else if (!/^(?:\s|--)/.test(text)) {
      first ??= text
      last = undefined
    }
  }
  return { first: first ?? '', called: [...called] }
}

/** Comments stand within comments. */
function endOfComment(sqlText: string, from: number): number {
  const marks = /\/\*|\*\//g
  marks.lastIndex = from
  for (let depth = 1; depth > 0;) {
    const mark = marks.exec(sqlText)
    if (mark === null) return sqlText.length
    depth += mark[0] === '/*' ? 1 : -1
  }
  return marks.lastIndex
}

function refused(problem: string): ConfigError {
  return new ConfigError([{ setting: 'the SQL', problem }])
}

/**
 * Throws ConfigError for a statement that may do more than read: one of another kind, or one that
 * calls a function that PostgreSQL holds for able to change something (volatile). Programs, files,
 * other sessions, locks and settings are reached by such functions alone. Runs nothing of the
 * statement.
 */
export async function refuseMoreThanReading(
  query: (sqlText: string, parameters: readonly unknown[]) => Promise<{ name: string }[]>,
  sqlText: string,
): Promise<void> {
  // A quote behind a backslash ends the text or not, depending on what stands a line above.
  if (sqlText.includes("\\'") && /\be'/i.test(sqlText)) {
    throw refused("holds \\' in an E'…' text: write two quotes instead")
  }
  const { first, called } = wordsOf(sqlText)
  if (first !== '(' && !READS.includes(first)) {
    throw refused(
      `begins with "${first}", and \`query\` answers one ${READS.slice(0, -1).join(', ')} or ${READS.at(-1) ?? ''}; psql runs the rest`,
    )
  }
  const [changing] = await query(
    `select proname::text as name
    from pg_catalog.pg_proc
    where proname = any($1::text[]) and proname != all($2::text[]) and provolatile = 'v'
    order by array_position($1::text[], proname::text)
    limit 1`,
    [called, HARMLESS],
  )
  if (changing === undefined) return
  throw refused(
    `calls ${changing.name}, which may change something, and \`query\` only reads; use psql, ` +
      'or mark a function of your own as stable',
  )
}
