import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const SQL = fileURLToPath(new URL('../../sql', import.meta.url))

/** Each file with its statements in lower case, without comments and text literals. */
function readSql(directory: string): { readonly path: string; readonly code: string }[] {
  return readdirSync(join(SQL, directory), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => {
      const path = join(SQL, directory, name)
      // In one pass: a comment may hold an apostrophe, and a text two dashes.
      const code = readFileSync(path, 'utf8').replace(/'(?:[^']|'')*'|--.*$/gm, (found) =>
        found.startsWith('--') ? '' : `''`,
      )
      return { path, code: code.toLowerCase() }
    })
}

const migrations = readSql('migrations')
const views = readSql('views').filter(({ path }) => !path.includes('/fragments/'))

it('migrations are numbered without a gap and say what they do: verb and object', () => {
  const verbs =
    '(?:create|add|drop|rename|change|fill|move|split|merge|share|remember|track|place|watch)'
  for (const [index, { path }] of migrations.entries()) {
    const number = String(index + 1).padStart(4, '0')
    expect(basename(path)).toMatch(new RegExp(`^${number}_${verbs}_[a-z0-9_]+\\.sql$`))
  }
})

it('migrations have no triggers, and no foreign keys or checks in the data tables: arrival order and values are the source’s', () => {
  let tables = 0
  for (const { path, code } of migrations) {
    expect(code, path).not.toMatch(/\bcreate (?:constraint )?trigger\b/)
    expect(code, path).not.toMatch(
      /alter table \{\{data\}\}.*\b(?:foreign key|references|check)\b/s,
    )
    for (const [table] of code.matchAll(/create table \{\{data\}\}\.\w+ \([\s\S]*?\n\)/g)) {
      expect(table).not.toMatch(/\b(?:references|foreign key|check|unique|enum)\b/)
      tables += 1
    }
  }
  expect(tables).toBeGreaterThan(15)
})

it('views show their columns, one view a file, named after it and with a description beside it', () => {
  expect(views.length).toBeGreaterThan(40)
  for (const { path, code } of views) {
    expect(code, path).not.toMatch(/select\s+(?:\w+\.)?\*/)
    const made = code.matchAll(/create (?:materialized )?view \{\{\w+\}\}\.(\w+)/g)
    expect([...made].map(([, view]) => view)).toEqual([basename(path, '.sql')])
    expect(existsSync(path.replace(/sql$/, 'yml')), path).toBe(true)
  }
})

it('migrations put no plain index on free text, which may be longer than an index can hold', () => {
  const indexes = migrations.flatMap(({ code }) => [
    ...code.matchAll(
      /create index (\w+)\s+on \{\{data\}\}\.\w+ (using hash )?\(([^)]*)\)(?:\s+include \(([^)]*)\))?/g,
    ),
  ])
  expect(indexes.length).toBeGreaterThan(5)
  const freeText = indexes.filter(([, , hash, columns = '', included]) => {
    const names = [...columns.split(','), ...(included?.split(',') ?? [])]
    return hash === undefined && !names.every((name) => /_(?:id|at)( desc)?$/.test(name.trim()))
  })
  expect(freeText.map(([, name]) => name)).toEqual([])
})
