import { ConfigError } from '../../../base/errors.js'
import { compactNumber, findNumbers } from '../../answers/ask/find-numbers.js'
import type { NumberPage } from '../../answers/number-page.js'
import { readTable } from '../../answers/read-answer.js'
import { toObjects } from '../../answers/output/print-answer.js'
import { ABOUT_TEXTS, asText, describeCut, JsonLines, takeFitting } from './result-text.js'
import { MOST_ROWS, type Tool } from './tool.js'

const SHORTEST_PART = 3

export const findTool: Tool = {
  name: 'find',
  title: 'Find a container or shipment',
  description:
    'Finds containers and shipments by a container number in any spelling, a bill of lading, a ' +
    'reference number, the value of a custom field, an id, or a part of one of them.',
  arguments: {
    number: {
      type: 'string',
      minLength: SHORTEST_PART,
      description: `At least ${SHORTEST_PART} letters or digits of a number, as somebody wrote it.`,
    },
  },
  required: ['number'],
  run: async ({ number }, { open, pageOf }) => {
    const wanted = String(number).trim()
    if (compactNumber(wanted).length < SHORTEST_PART) {
      const problem = `is too short to be looked for; give at least ${SHORTEST_PART} letters or digits`
      throw new ConfigError([{ setting: 'number', problem }])
    }
    const found = await readTable(await open(), 'find a number', findNumbers(wanted), {
      mostRows: MOST_ROWS,
    })
    const total = found.rows.length + (found.unread ?? 0)
    const shown = takeFitting(toObjects(found).map((row) => withPage(row, pageOf)))
    const matches = total === 1 ? '1 match' : `${total} matches`
    const none = `nothing has ${JSON.stringify(wanted)} in a number, reference or custom field`
    return asText({
      number: wanted,
      about: ABOUT_TEXTS,
      found: total === 0 ? none : matches,
      rows: new JsonLines(shown),
      truncated: describeCut(shown.length, total, 'give more of the number'),
    })
  },
}

/** A row with the page of its container, or else of its bill of lading, at the service. */
function withPage(row: string, pageOf?: NumberPage): string {
  const { container_number: container, bill_of_lading_number: bill } = JSON.parse(row) as Record<
    string,
    unknown
  >
  const page = pageOf?.(container ?? bill)
  return page === undefined ? row : `${row.slice(0, -1)},"page":${JSON.stringify(page)}}`
}
