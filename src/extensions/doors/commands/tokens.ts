import { InvalidArgumentError } from 'commander'
import type { App } from '../../../app.js'
import { ConfigError } from '../../../base/errors.js'
import { countOf, listNames, suggest } from '../../../base/phrases.js'
import {
  declare,
  group,
  instantText,
  list as listOf,
  requiredValue,
  value,
} from '../../../commands/declare-command.js'
import { SchemaNames } from '../../../warehouse/connection/schema-names.js'
import type { TokenEnd } from '../access-tokens.js'

const store = () => import('../access-tokens.js')

const LONGEST_DAYS = 3_660
/** The tool of MCP that a token may name beside questions; `evidence` is a question too. */
const FIND = 'find'

/** `90d`, or a day or an instant. */
function endText(text: string): TokenEnd {
  const [, digits] = /^(\d{1,5})d$/.exec(text) ?? []
  if (digits === undefined) return { at: instantText(text) }
  const days = Number(digits)
  if (days >= 1 && days <= LONGEST_DAYS) return { days }
  throw new InvalidArgumentError(`It must be a day, or 1d to ${LONGEST_DAYS}d.`)
}

const create = declare({
  name: 'create',
  help:
    'Create a token with which another program asks questions over HTTP, and print it once. ' +
    'Only its hash is stored.',
  json: 'Print the token and its rights as JSON.',
  settings: ['migrate'],
  takes: {
    name: requiredValue('--name <name>', 'A name of your choice, to list and revoke it by.'),
    questions: requiredValue(
      '--questions <names>',
      'The questions that it may ask, separated by commas; `find` and `evidence` open the tools of ' +
        'MCP, and `dashboard` the page.',
    ),
    customers: listOf(
      '--customer <name>',
      'Only rows of this customer, read by its role (see `migrate --customers`); each of its names.',
    ),
    end: value(
      '--expires <when>',
      'The end of the token: a number of days, or a day. (default: 90d)',
      endText,
    ),
  },
  run: async (app, { name, questions, customers, end = { days: 90 } }) => {
    const { createToken } = await store()
    const asked = await findQuestions(questions, new SchemaNames(app.config.schema))
    const warehouse = await app.openWarehouse({ isWriting: true, isForSubscriber: true })
    if (customers.length > 0) {
      const { requireCustomerRole } = await import('../customer-rows.js')
      const read = asked.filter((one) => one !== FIND)
      await requireCustomerRole(warehouse, customers, read)
    }
    const created = await createToken(warehouse, {
      name: checkName(name),
      questions: asked,
      customers: customers.length > 0 ? customers : null,
      end,
    })
    return {
      data: created,
      text: [
        created.token,
        '',
        `${name} opens ${listNames(asked)} until ${created.expiresAt}` +
          `${customers.length > 0 ? `, for the rows of ${customers.join(' and ')}` : ''}.`,
        'The token is shown only now. Addresses with it stand in logs of other programs.',
      ],
    }
  },
})

function checkName(name: string): string {
  if (/^[\w.-]{1,60}$/.test(name)) return name
  const problem = 'must be 1 to 60 letters, digits, dots, hyphens or underscores'
  throw new ConfigError([{ setting: '--name', problem }])
}

async function findQuestions(text: string, names: SchemaNames): Promise<string[]> {
  const { readShippedQueries } = await import('../../answers/questions/shipped-queries.js')
  const { DASHBOARD } = await import('../http/door-guard.js')
  const shipped = (await readShippedQueries(names)).map(({ name }) => name)
  const known = [...shipped, FIND, DASHBOARD]
  const asked = [...new Set(text.split(',').map((part) => part.trim()))]
  const problems = asked
    .filter((name) => !known.includes(name))
    .map((name) => {
      const fix = suggest(name, known) || '; `tracking-sync query` lists them'
      return { setting: '--questions', problem: `names ${name}, which is not a question${fix}` }
    })
  if (problems.length > 0) throw new ConfigError(problems)
  return asked
}

const list = declare({
  name: 'list',
  isDefault: true,
  help: 'List the tokens with their rights, their end and their uses. No token itself is shown.',
  run: async (app: App) => {
    const { listTokens } = await store()
    const tokens = await listTokens(await app.openWarehouse())
    if (tokens.length === 0) return { data: tokens, text: ['There are no tokens.'] }
    return {
      data: tokens,
      text: [
        {
          columns: ['token', 'state', 'customer', 'questions', 'expires', 'uses', 'last used'],
          rows: tokens.map((token) => [
            token.name,
            token.state,
            token.customers?.join(' and ') ?? null,
            token.questions.join(', '),
            token.expiresAt,
            token.uses,
            token.lastUsedAt,
          ]),
        },
      ],
    }
  },
})

const revoke = declare({
  name: 'revoke',
  help: 'Revoke tokens by name: from the next request on they open nothing.',
  settings: ['migrate'],
  takes: { given: listOf('<names...>', 'Names of tokens, from `tokens list`.') },
  run: async (app, { given }) => {
    const { listTokens, revokeTokens } = await store()
    const warehouse = await app.openWarehouse({ isWriting: true, isForSubscriber: true })
    const active = (await listTokens(warehouse))
      .filter(({ state }) => state !== 'revoked')
      .map(({ name }) => name)
    const problems = given
      .filter((name) => !active.includes(name))
      .map((name) => ({
        setting: name,
        problem: `is not the name of a token in use${suggest(name, active) || '; `tracking-sync tokens list` shows them'}`,
      }))
    if (problems.length > 0) throw new ConfigError(problems)
    const revoked = await revokeTokens(warehouse, given)
    return { data: { revoked }, text: [`${countOf(revoked.length, 'token')} revoked.`] }
  },
})

export const tokens = group(
  'tokens',
  'Tokens with which other programs ask questions over HTTP: create, list or revoke them.',
  [create, list, revoke],
)
