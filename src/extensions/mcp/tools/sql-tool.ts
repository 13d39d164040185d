import { checkInstant } from '../../answers/ask/prepare-question.js'
import { INSTANT_SCHEMA } from '../../answers/ask/question-parameters.js'
import { refuseViewsOfNow, streamOwnSql } from '../../answers/ask/own-sql.js'
import { toObjects } from '../../answers/output/print-answer.js'
import { readAge } from '../read-age.js'
import { ABOUT_TEXTS, asText, describeCut, JsonLines, takeFitting } from './result-text.js'
import { MOST_ROWS, WORDS, type Tool } from './tool.js'

/** Only with `mcp --sql`. */
export const sqlTool: Tool = {
  name: 'sql',
  title: 'Ask in SQL',
  description:
    'Answers one SELECT statement of PostgreSQL over the tables and views of the warehouse, in a ' +
    'read-only transaction. Names without a schema mean the tables, then the views; the resource ' +
    'tracking-sync://dictionary/{table} describes one. Prefer `ask`, whose answers are defined.',
  arguments: {
    statement: { type: 'string', minLength: 1, description: 'One SELECT statement.' },
    as_of: {
      ...INSTANT_SCHEMA,
      description: 'The instant that views without a schema answer for; now unless given.',
    },
  },
  required: ['statement'],
  run: async ({ statement, as_of: asOf }, { open }) => {
    const reader = await open()
    const text = String(statement)
    const at = asOf === undefined ? undefined : checkInstant('as_of', asOf as string)
    if (at !== undefined) refuseViewsOfNow(text, reader.names, WORDS)
    const lines: string[] = []
    let [columns, total]: [readonly string[], number] = [[], 0]
    const own = { text, asOf: at, mostRows: MOST_ROWS }
    for await (const piece of streamOwnSql({ reader, isAsReader: false }, own, WORDS)) {
      columns = piece.columns
      lines.push(...toObjects(piece))
      total += piece.rows.length + (piece.unread ?? 0)
    }
    const shown = takeFitting(lines)
    return asText({
      as_of: at ?? 'now',
      data: await readAge(reader),
      about: ABOUT_TEXTS,
      columns: columns.join(', '),
      rows: new JsonLines(shown),
      rows_in_all: total,
      truncated: describeCut(shown.length, total, 'add a condition, or select fewer columns'),
    })
  },
}
