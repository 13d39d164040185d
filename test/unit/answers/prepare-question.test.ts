import { beforeAll, describe, expect, it } from 'vitest'
import { ConfigError } from '../../../src/base/errors.js'
import { SchemaNames } from '../../../src/warehouse/connection/schema-names.js'
import { OPTIONS } from '../../../src/extensions/answers/ask/ask-words.js'
import { meaningsOf } from '../../../src/extensions/answers/ask/ask-question.js'
import {
  prepareFound,
  prepareQuestion,
  type Asked,
} from '../../../src/extensions/answers/ask/prepare-question.js'
import { questionParameters } from '../../../src/extensions/answers/ask/question-parameters.js'
import {
  PARAMETERS,
  QUERY_PARAMETERS,
} from '../../../src/extensions/answers/questions/query-parameters.js'
import {
  readShippedQueries,
  type ShippedQuery,
} from '../../../src/extensions/answers/questions/shipped-queries.js'
import { requireColumns } from '../../../src/extensions/answers/output/print-answer.js'
import { readQuery, wordsWithin } from '../../../src/extensions/doors/http/read-request.js'
import { argumentName, WORDS } from '../../../src/extensions/mcp/tools/tool.js'

const names = new SchemaNames('tracking')
let questions: ShippedQuery[]

beforeAll(async () => {
  questions = await readShippedQueries(names)
})

const prepare = (asked: Asked) => prepareQuestion(names, asked, WORDS)

describe('a question that somebody asks', () => {
  it('is bound with its filters, as numbers or texts, in either spelling', async () => {
    const filters = { at_least: 2, cut: 'lane', limit: '7', line: undefined }
    const { side, against, values } = await prepare({ question: 'carriers', filters })
    expect(values).toEqual({ 'at-least': '2', cut: 'lane', limit: '7' })
    expect(side.statement.parameters.filter((value) => value !== null)).toEqual(['lane', '2', '7'])
    expect(against).toBeUndefined()
  })

  it('has one statement by the command line, MCP and HTTP, whichever filter narrows it', async () => {
    const values: Partial<Record<string, string>> = {
      ...{ 'custom-field': 'note=blue', since: '2026-03-01', until: '2026-03-09T08:00Z' },
      ...{ 'at-least': '7', limit: '3' },
    }
    let cases = 0
    for (const question of questions) {
      for (const name of question.parameters) {
        const value = values[name] ?? QUERY_PARAMETERS[name].words?.[1] ?? `zq ${name}`
        const asked = { question, values: { [name]: value }, asOf: undefined, against: undefined }
        const command = await prepareFound(names, { ...asked, columns: undefined }, OPTIONS)
        const { filters } = readQuery(new URLSearchParams([[name, value]]))
        for (const [words, given] of [
          [wordsWithin(30), filters ?? {}],
          [WORDS, { [argumentName(name)]: value }],
        ] as const) {
          const { side } = await prepareQuestion(
            names,
            { question: question.name, filters: given },
            words,
            () => Promise.resolve(questions),
          )
          expect({ name, statement: side.statement }).toEqual({
            ...{ name, statement: command.side.statement },
          })
          expect(side.statement.parameters.filter((one) => one !== null)).toContain(value)
          expect(side.statement.sql).not.toContain('zq')
          cases += 1
        }
      }
    }
    expect(cases).toBe(2 * 240)
  })

  it('is bound twice to be compared, without its limit', async () => {
    const asked = { question: 'pickups', filters: { limit: 7 }, against: '2026-03-01' }
    const { side, against } = await prepare(asked)
    expect([side.asOf, against?.asOf]).toEqual([undefined, '2026-03-01'])
    expect(side.statement.sql).toContain('"tracking_analytics".pickups')
    expect(against?.statement.sql).toContain('"tracking_as_of".pickups')
    expect(side.statement.parameters.every((value) => value === null)).toBe(true)
  })

  const pickups = (filters: Asked['filters']): Asked => ({ question: 'pickups', filters })
  it.each<readonly [Asked, string]>([
    [{ question: 'pickup' }, 'pickup is not one of the questions; did you mean pickups?'],
    [{ question: 'xyz' }, 'xyz is not one of the questions; `list_questions` lists them'],
    [{ question: 'port_waits' }, 'port_waits is asked by another name: waits'],
    [pickups({ vessel: 'EVER' }), 'filters.vessel does not narrow pickups, which takes '],
    [pickups({ limit: -1 }), 'limit is "-1"; it must be a whole number from 0 to '],
    [pickups({ custom_field: 'x' }), 'filters.custom_field is "x"; it must be a name and a value'],
    [pickups({ state: 'overdu' }), 'filters.state has no value "overdu"; did you mean overdue?'],
    [pickups({ place: 'yard' }), 'filters.place has no value "yard"; it is one of port, ramp, out'],
    [
      { question: 'timeline', filters: { since: 'May' } },
      'filters.since is "May"; it must be a day',
    ],
    [{ question: 'pickups', columns: ['state', 'place', 'state'] }, 'columns names state twice; '],
    [{ question: 'pickups', asOf: '2026-02-30' }, 'as_of is "2026-02-30"; it must be a day'],
    [{ question: 'pickups', against: 'now' }, 'against is "now"; it must be a day or a time'],
  ])('is refused in one sentence with the fix: %j', async (asked, sentence) => {
    const refused = prepare(asked)
    await expect(refused).rejects.toBeInstanceOf(ConfigError)
    await expect(refused).rejects.toThrow(sentence)
    await expect(refused).rejects.not.toThrow('\n')
  })
})

it('names a few of ten thousand mistakes', async () => {
  const wrong = Array.from({ length: 10_000 }, (_, at) => `c${at}`)
  const filters = Object.fromEntries(wrong.map((name) => [name, 'x']))
  const few = { problems: expect.objectContaining({ length: 3 }) as unknown }
  await expect(prepare({ question: 'pickups', filters })).rejects.toMatchObject(few)
  const narrow = () => {
    requireColumns(wrong, ['state'])
  }
  expect(narrow).toThrow(expect.objectContaining(few))
})

it('each filter of a question has a description and a schema of its values', () => {
  const all = questions.flatMap((question) => questionParameters(question))
  expect(new Set(all.map(({ name }) => name))).toEqual(new Set(PARAMETERS))
  expect(all.filter(({ description }) => description.length < 10)).toEqual([])
  const of = (name: string) => all.find((one) => one.name === name)?.schema
  const cuts = ['all', 'line', 'lane', 'lane and line', 'vessel']
  expect(of('cut')).toEqual({ type: 'string', enum: cuts })
  expect(of('at-least')).toEqual({ type: 'integer', minimum: 0, default: 5 })
  expect(of('limit')).toEqual({ type: 'integer', minimum: 0 })
})

it('a comparison names its columns after those of the question', () => {
  const known = [{ name: 'fee', meaning: 'Fee.' }]
  const meanings = meaningsOf(['change', 'fee', 'fee_was', 'fee_difference'], known)
  expect(meanings.map(({ meaning }) => meaning)).toEqual([
    'came, went or changed, from the earlier to the later instant.',
    'Fee.',
    'At the earlier instant; null for a row that came.',
    'Later value less the earlier one.',
  ])
})
