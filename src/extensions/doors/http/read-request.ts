import type { Asked } from '../../answers/ask/prepare-question.js'
import type { AskWords } from '../../answers/ask/ask-words.js'
import { Refused } from './refused.js'

/** Formats of an address, with the type of the content. */
export const CONTENT_TYPES = {
  csv: 'text/csv; charset=utf-8',
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  ics: 'text/calendar; charset=utf-8',
} as const

export type HttpFormat = keyof typeof CONTENT_TYPES

export const FORMATS = Object.keys(CONTENT_TYPES) as HttpFormat[]

/** The header of sentences beside an answer: a body has its rows alone. */
export const NOTES = 'tracking-sync-notes'

/** Parameters of an address beside the filters of a question. */
export const OTHER_PARAMETERS = {
  'as-of': 'Answer with what was known at this instant.',
  against: 'Compare with this instant: what came, what went, what changed.',
  columns: 'Only these columns, separated by commas, in this order.',
  excel: 'true: csv for spreadsheets, with instants in UTC, lists joined and formulas disarmed.',
  'spreadsheet-safe': 'true: in csv, disarm texts that a spreadsheet would run as a formula.',
} as const

export interface AskedOverHttp extends Asked {
  readonly format: HttpFormat
  readonly isForExcel: boolean
  readonly isSpreadsheetSafe: boolean
}

export function wordsWithin(seconds: number): AskWords {
  return {
    filter: (name) => name,
    asOf: 'as-of',
    against: 'against',
    columns: 'columns',
    list: '/questions lists them',
    asked: (question) => {
      const [name = '', ...filters] = question.split(/ --(?=\w)/)
      const query = filters.map((filter) => filter.replace(' ', '=')).join('&')
      return `/questions/${name}.csv${query === '' ? '' : `?${query}`}`
    },
    overtime: {
      setting: 'the answer',
      problem: `takes more than ${seconds} seconds; narrow the question by a filter`,
    },
  }
}

/** The name and the format in `/questions/costs.csv`. Throws `Refused` for another format. */
export function readPath(path: string): { readonly name: string; readonly format: HttpFormat } {
  const [, name = '', format = ''] = /^\/questions\/([^./]*)(?:\.(\w*))?$/.exec(path) ?? []
  if (Object.hasOwn(CONTENT_TYPES, format)) return { name, format: format as HttpFormat }
  const example = `/questions/${/^\w+$/.test(name) ? name : 'costs'}.csv`
  throw new Refused(
    404,
    `the address must end in the name of a question and ${FORMATS.join(', ')}, like ${example}`,
  )
}

/** The parts of an address. Filters are checked with the question. */
export function readQuery(query: URLSearchParams): Omit<AskedOverHttp, 'question' | 'format'> {
  const given = new Map<string, string>()
  for (const [key, value] of query) {
    const name = key.replaceAll('_', '-')
    if (given.has(name)) throw new Refused(400, `${name} is given twice; give it once`)
    given.set(name, value)
  }
  given.delete('token')
  const take = (name: keyof typeof OTHER_PARAMETERS): string | undefined => {
    const value = given.get(name)
    given.delete(name)
    return value
  }
  return {
    asOf: take('as-of'),
    against: take('against'),
    columns: take('columns')
      ?.split(',')
      .map((name) => name.trim()),
    isForExcel: readFlag('excel', take('excel')),
    isSpreadsheetSafe: readFlag('spreadsheet-safe', take('spreadsheet-safe')),
    filters: Object.fromEntries(given),
  }
}

function readFlag(name: string, text: string | undefined): boolean {
  if (text === undefined || text === 'false') return false
  if (text === '' || text === 'true') return true
  throw new Refused(400, `${name} must be true or false`)
}
