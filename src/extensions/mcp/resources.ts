import { ConfigError } from '../../base/errors.js'
import { suggest } from '../../base/phrases.js'
import { projectFile } from '../../base/project-file.js'
import { readTextFile } from '../../base/text-file.js'
import { readPasses } from '../../status/read-vitals.js'
import { readAge } from './read-age.js'
import { asText } from './tools/result-text.js'
import type { AskSession } from './tools/tool.js'

/** A text that a client may read beside the tools. */
interface Resource {
  readonly uri: string
  readonly name: string
  readonly description: string
  readonly mimeType: string
}

const MARKDOWN = 'text/markdown'
const DICTIONARY = 'tracking-sync://dictionary'

export const RESOURCES: readonly Resource[] = [
  {
    uri: DICTIONARY,
    name: 'dictionary',
    description: 'The tables and views of the warehouse, a line for each.',
    mimeType: MARKDOWN,
  },
  {
    uri: 'tracking-sync://terms',
    name: 'terms',
    description: 'The words of answers, messages and documents.',
    mimeType: MARKDOWN,
  },
  {
    uri: 'tracking-sync://freshness',
    name: 'freshness',
    description: 'How old the data are, list by list.',
    mimeType: 'application/json',
  },
]

export const TEMPLATES = [
  {
    uriTemplate: `${DICTIONARY}/{table}`,
    name: 'dictionary of a table',
    description: 'A table or view with the meaning and unit of each column.',
    mimeType: MARKDOWN,
  },
] as const

/** The text of a resource; undefined if there is none. */
export async function readResource(uri: string, { open }: AskSession): Promise<string | undefined> {
  const name = RESOURCES.find((one) => one.uri === uri)?.name
  if (name === 'terms') return readDocument('terms')
  if (name === 'dictionary') return listTables()
  if (uri.startsWith(`${DICTIONARY}/`)) return describeTable(uri.slice(DICTIONARY.length + 1))
  if (name !== 'freshness') return undefined
  const warehouse = await open()
  return asText({ ...(await readAge(warehouse)), lists: await readPasses(warehouse, RUNS) })
}

/** Runs that are looked at for the last complete pass of each list. */
const RUNS = 1_000

function readDocument(name: string): string {
  return readTextFile(projectFile(`docs/${name}.md`))
}

/** The text of each table and view, by its name with the schema. */
function readTables(): Map<string, string> {
  const [, ...schemas] = readDocument('dictionary').split(/^## Schema /m)
  return new Map(
    schemas.flatMap((section) => {
      const schema = nameIn(section)
      const [, ...parts] = section.split(/^### (?=`)/m)
      return parts.map((part) => [`${schema}.${nameIn(part)}`, part] as const)
    }),
  )
}

/** In its heading. */
function nameIn(text: string): string {
  return /^`(.*?)`/.exec(text)?.[1] ?? ''
}

function listTables(): string {
  const lines = [...readTables()].map(([name, text]) => {
    const [meaning = ''] = text.split('\n\n').slice(1)
    return `- \`${name}\`: ${meaning.replaceAll('\n', ' ')}`
  })
  return `# Tables and views\n\n${lines.join('\n')}\n`
}

/** Without a schema the first of that name: the tables come before the views. */
function describeTable(name: string): string {
  const tables = readTables()
  const names = [...tables.keys()]
  const found = tables.has(name) ? name : names.find((one) => one.endsWith(`.${name}`))
  if (found !== undefined) return `# ${found}\n\n${tables.get(found) ?? ''}`
  const short = names.map((one) => one.slice(one.indexOf('.') + 1))
  const fix = suggest(name, short) || `; ${DICTIONARY} lists them`
  throw new ConfigError([{ setting: name, problem: `is not a table or a view${fix}` }])
}
