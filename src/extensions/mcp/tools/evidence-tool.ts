import { ConfigError } from '../../../base/errors.js'
import { instant } from '../../../commands/declare-command.js'
import { findJourney } from '../../answers/ask/find-journey.js'
import { checkInstant } from '../../answers/ask/prepare-question.js'
import { INSTANT_SCHEMA } from '../../answers/ask/question-parameters.js'
import { pickColumns } from '../../answers/output/print-answer-table.js'
import { toObjects } from '../../answers/output/print-answer.js'
import { readEvidence } from '../../answers/questions/container-evidence.js'
import { ABOUT_TEXTS, asText, describeCut, takeFitting } from './result-text.js'
import { MOST_CHARACTERS, type Tool } from './tool.js'

export const evidenceTool: Tool = {
  name: 'evidence',
  title: 'Evidence about a container',
  description:
    'Gives what was known of a container at an instant, for a dispute: stays, charges and their ' +
    'days, invoices, holds and fees with the time they were seen, corrected dates, events, rules.',
  arguments: {
    container: { type: 'string', minLength: 1, description: 'Number or id of the container.' },
    as_of: { ...INSTANT_SCHEMA, description: 'What was known at this instant; now unless given.' },
  },
  required: ['container'],
  run: async ({ container, as_of: asked }, { open, pageOf }) => {
    const asOf = (asked === undefined ? new Date() : pastInstant(asked as string)).toISOString()
    const warehouse = await open()
    const words = { container: 'container', asOf: 'as_of' }
    const journey = await findJourney(warehouse, String(container), asOf, words)
    const tables = await readEvidence(warehouse, journey.containerId, asOf)
    let left = MOST_CHARACTERS
    const shown = tables.map(({ name, title, note, empty, answer, shown: columns }) => {
      const picked = pickColumns(
        answer,
        columns.map((one) => one.name),
      )
      const lines = takeFitting(toObjects(picked), left)
      left -= lines.join('').length
      const fix = '`tracking-sync evidence <container> --out <folder>` writes everything'
      return {
        table: name,
        title,
        note: answer.rows.length === 0 ? empty : note,
        columns: answer.rows.length === 0 ? undefined : columns,
        rows: lines.map((line) => JSON.parse(line) as unknown),
        truncated: describeCut(lines.length, answer.rows.length, fix),
      }
    })
    const page = pageOf?.(journey.number ?? journey.billOfLading)
    return asText({ ...journey, page, as_of: asOf, about: ABOUT_TEXTS, tables: shown })
  },
}

function pastInstant(text: string): Date {
  const at = instant(checkInstant('as_of', text))
  if (at.getTime() <= Date.now()) return at
  const problem = `${text} is in the future; name an instant that has passed`
  throw new ConfigError([{ setting: 'as_of', problem }])
}
