import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const SOURCE = fileURLToPath(new URL('../../src', import.meta.url))

/**
 * The only places where a text becomes SQL. Everywhere else the `sql` tag binds the value of each
 * `${…}`, and `sql.id` and `sql.table` quote.
 */
const TEXTS: Readonly<Record<string, string>> = {
  'extensions/accounts/distribute/distribute-warehouse.ts': 'statements that the plan shows first',
  'extensions/accounts/distribute/plan-distribution.ts': 'a name that PostgreSQL quoted',
  'extensions/answers/ask/own-sql.ts': 'what a person wrote',
  'extensions/answers/questions/shipped-queries.ts': 'shipped questions',
  'extensions/dashboard/read-panels.ts': 'shipped panels',
  'extensions/lake/export-table.ts': 'a constant',
  'extensions/lake/stage-rows.ts': 'the select of a table of ours',
  'warehouse/connection/bound-connection.ts': 'a constant',
  'warehouse/connection/typed-database.ts': 'the function itself, and texts that the tag made',
  'extensions/doctor/verify/compare-rows.ts': 'types of columns',
  'warehouse/rows/incoming-rows.ts': 'types of columns',
  'warehouse/rows/vessel-positions.ts': 'types of columns',
  'warehouse/schema/install-views.ts': 'shipped views',
  'warehouse/schema/roles.ts': 'statements that are shown to people as well',
  'warehouse/schema/run-migrations.ts': 'shipped migrations',
}

const MAKES_SQL = /\bsql\.raw\(|\brawStatement(?:<[^(]*>)?\(|\bCompiledQuery\.raw\(/

const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.startsWith('extensions/simulator'))
  .map((path) => ({ path, text: readFileSync(join(SOURCE, path), 'utf8') }))

describe('texts of statements', { tags: ['S6', 'FC1'] }, () => {
  it('become SQL in the places of this list only', () => {
    const found = files.filter(({ text }) => MAKES_SQL.test(text)).map(({ path }) => path)
    expect(found.sort()).toEqual(Object.keys(TEXTS).sort())
  })

  it('are not written between the quotes of a statement', () => {
    const quoted = files.flatMap(({ path, text }) =>
      [...text.matchAll(/\bsql(?:<[^`]*>)?`[^`]*'\$\{/g)].map(() => path),
    )
    expect(quoted).toEqual([])
  })

  it('quote identifiers in one function only', () => {
    const quoting = files
      .filter(({ path }) => !/^(?:commands|extensions\/answers\/output)\//.test(path))
      .filter(({ text }) => text.includes(`replaceAll('"', '""')`))
    expect(quoting.map(({ path }) => path)).toEqual(['warehouse/connection/schema-names.ts'])
  })
})

const FILES = `['"](?:node:)?fs(?:/promises)?['"]`

/** The file functions of Node that a module uses, with any form of import. */
function fileFunctionsOf(text: string): string[] {
  const imported = [...text.matchAll(new RegExp(`import ([^;'"]+?) from ${FILES}`, 'g'))]
  const called = [
    ...text.matchAll(new RegExp(`(import|require|getBuiltinModule)\\(\\s*${FILES}`, 'g')),
  ]
  return [
    ...imported.flatMap(([, names = '']) => names.split(/[{},]/).map((name) => name.trim())),
    ...called.map(([, how = '']) => `${how}()`),
  ].filter((name) => name !== '')
}

describe('what the source sends', { tags: ['S8'] }, () => {
  it('names no file: nothing that sees it can open one, and the warehouse only reads what is shipped', () => {
    const all = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
    const opening = all
      .filter((path) =>
        /^(?:source|ingest|sync|webhooks|status|warehouse|extensions\/(?:alerts|answers\/questions))[/\\].*\.ts$/.test(
          path,
        ),
      )
      .flatMap((path) => {
        const names = fileFunctionsOf(readFileSync(join(SOURCE, path), 'utf8'))
        return names.length === 0 ? [] : [`${path}: ${names.join(', ')}`]
      })
    expect(opening.sort()).toEqual([
      'warehouse/schema/run-migrations.ts: readFile, readdir',
      'warehouse/schema/shipped-tables.ts: readFile',
      'warehouse/schema/shipped-views.ts: readFile, readdir',
    ])
  })

  it.each([
    [`import { readFile } from 'node:fs/promises'\nimport { open } from 'fs'`, 'readFile,open'],
    [`import * as files from "node:fs"`, '* as files'],
    [`const { open } = await import('fs/promises')`, 'import()'],
    [`const files = require('node:fs')`, 'require()'],
    [`process.getBuiltinModule('fs')`, 'getBuiltinModule()'],
  ])('would be caught if it did: %s', (text, names) => {
    expect(fileFunctionsOf(text).join(',')).toBe(names)
  })
})
