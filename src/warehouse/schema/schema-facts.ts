/**
 * A schema as a list of facts, so that two of them can be compared: `column tracking.ports.name` → `text`. Read from the text that
 * `describeSchema` writes; comments are no facts.
 */
export type SchemaFacts = ReadonlyMap<string, string>

const TABLE = /^create (?:unlogged )?table (\S+) \($/
const INDEX = /^CREATE (?:UNIQUE )?INDEX (\S+) ON (\S+?)\.(?:.*)$/
const FUNCTION = /^CREATE OR REPLACE (?:FUNCTION|PROCEDURE) ([^(]+)\(/
const CONSTRAINT = /^ {4}constraint (\S+) (.*?),?$/
const COLUMN = /^ {4}(\S+) (.*?),?$/

/** Where the text of a function ends: its own lines begin otherwise. */
const STATEMENT = /^(?:create |comment on |CREATE )/

export function readSchemaFacts(schemaText: string): SchemaFacts {
  const facts = new Map<string, string>()
  let table: string | undefined
  let definition: string | undefined
  for (const line of schemaText.split('\n')) {
    if (definition !== undefined && !STATEMENT.test(line)) {
      facts.set(definition, `${facts.get(definition) ?? ''}\n${line}`.trimEnd())
      continue
    }
    definition = undefined
    const [, opened] = TABLE.exec(line) ?? []
    const [, index, schema] = INDEX.exec(line) ?? []
    const [, called] = FUNCTION.exec(line) ?? []
    if (opened !== undefined) {
      table = opened
      facts.set(`table ${table}`, line.startsWith('create unlogged') ? 'unlogged' : 'logged')
    } else if (line === ');') {
      table = undefined
    } else if (table !== undefined) {
      setMember(facts, table, line)
    } else if (index !== undefined) {
      facts.set(`index ${schema ?? ''}.${index}`, line.replace(/;$/, ''))
    } else if (called !== undefined) {
      definition = `function ${called}`
      facts.set(definition, line)
    }
  }
  return facts
}

function setMember(facts: Map<string, string>, table: string, line: string): void {
  const [, constraint, rule] = CONSTRAINT.exec(line) ?? []
  const [, column, type] = COLUMN.exec(line) ?? []
  if (constraint !== undefined) facts.set(`constraint ${table}.${constraint}`, rule ?? '')
  else if (column !== undefined) facts.set(`column ${table}.${column}`, type ?? '')
}
