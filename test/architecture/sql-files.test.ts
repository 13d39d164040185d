import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

interface SqlFile {
  readonly path: string
  /** Without comments and text literals. */
  readonly code: string
  readonly text: string
}

function readSql(directory: string): SqlFile[] {
  if (!existsSync(join(ROOT, directory))) return []
  return readdirSync(join(ROOT, directory), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => {
      const text = readFileSync(join(ROOT, directory, name), 'utf8')
      return { path: `${directory}/${name}`, text, code: withoutTexts(text) }
    })
}

function withoutTexts(text: string): string {
  // In one pass: a comment may hold an apostrophe, and a text two dashes.
  return text
    .replace(/'(?:[^']|'')*'|--.*$/gm, (found) => (found.startsWith('--') ? '' : `''`))
    .toLowerCase()
}

const migrations = readSql('sql/migrations')
const shipped = readSql('sql/views')

/** Every `create table` with the text between its parentheses. */
function createdTables({ code }: SqlFile): { schema: string; table: string; body: string }[] {
  const matches = code.matchAll(
    /create table (?:if not exists )?\{\{(\w+)\}\}\.(\w+) \(([\s\S]*?)\n\)/g,
  )
  return [...matches].map(([, schema = '', table = '', body = '']) => ({ schema, table, body }))
}

const tables = migrations.flatMap((file) =>
  createdTables(file).map((table) => ({ ...table, file })),
)
const dataTables = tables.filter(({ schema }) => schema === 'data')

describe('the migrations', () => {
  it('are numbered without a gap and say what they do: verb and object', () => {
    const verbs =
      '(?:create|add|drop|rename|change|fill|move|split|merge|share|remember|track|place|watch)'
    for (const [index, { path }] of migrations.entries()) {
      const number = String(index + 1).padStart(4, '0')
      expect(basename(path)).toMatch(new RegExp(`^${number}_${verbs}_[a-z0-9_]+\\.sql$`))
    }
    expect(tables.length).toBeGreaterThan(20)
  })

  it('create nothing outside the schemas of the setting', () => {
    const broken = migrations.flatMap(({ path, code }) =>
      [
        ...code.matchAll(
          /\b(?:create (?:unlogged )?(?:table|(?:or replace )?view|function|type|sequence)|alter table|drop table|references|comment on (?:table|column|view)|insert into|update)(?: if not exists)? (?!\{\{)(\S+)/g,
        ),
      ]
        .map(([statement]) => statement)
        .filter((statement) => !/^update set$/.test(statement))
        .map((statement) => `${path}: ${statement}`),
    )
    expect(broken).toEqual([])
    for (const { path, code } of migrations) {
      expect({
        path,
        words: code.match(/\btracking(?:_sync|_analytics|_parts|_as_of|_datasync|_stored)?\./g),
      }).toEqual({
        path,
        words: null,
      })
    }
  })

  it('comment on every table and column in the file that creates it', () => {
    const silent = tables.flatMap(({ schema, table, body, file }) => {
      const target = `{{${schema}}}.${table}`
      const columns = body
        .split('\n')
        .map((line) => /^ {4}(\w+) /.exec(line)?.[1])
        .filter((name) => name !== undefined && name !== 'constraint')
      const wanted = [
        `comment on table ${target} is`,
        ...columns.map((name) => `comment on column ${target}.${name ?? ''} is`),
      ]
      return wanted.filter((comment) => !file.code.includes(comment))
    })
    expect(silent).toEqual([])
  })

  it('have no triggers, and no foreign keys or checks in the data tables: arrival order and values are the source’s', () => {
    for (const { path, code } of migrations) {
      expect({ path, has: /\bcreate (?:constraint )?trigger\b/.test(code) }).toEqual({
        path,
        has: false,
      })
      expect({
        path,
        has: /alter table \{\{data\}\}.*\b(?:foreign key|references|check)\b/s.test(code),
      }).toEqual({
        path,
        has: false,
      })
    }
    for (const { table, body } of dataTables) {
      const found = /\b(?:references|foreign key|check|unique|enum)\b/.exec(body)?.[0]
      expect({ table, found }).toEqual({ table, found: undefined })
    }
  })

  it('keep container_id in every key and unique index of what belongs to a container', () => {
    const containerSide = dataTables.filter(
      ({ table }) => table.startsWith('container') || table === 'transport_events',
    )
    expect(containerSide.length).toBeGreaterThanOrEqual(9)
    for (const { table, body, file } of containerSide) {
      const key = /primary key \(([^)]*)\)/.exec(body)?.[1]
      expect({ table, key }).toEqual({
        table,
        key: expect.stringContaining('container_id') as string,
      })
      const unique = new RegExp(
        `create unique index \\w+\\s+on \\{\\{data\\}\\}\\.${table} \\(([^)]*)\\)`,
        'g',
      )
      for (const [, columns] of file.code.matchAll(unique)) {
        expect({ table, columns }).toEqual({
          table,
          columns: expect.stringContaining('container_id') as string,
        })
      }
    }
  })

  it('put no plain index on free text of the source, which may be longer than an index can hold', () => {
    const freeText = migrations.flatMap(({ code }) =>
      [
        ...code.matchAll(
          /create index (\w+)\s+on \{\{data\}\}\.\w+ (using hash )?\(([^)]*)\)(?:\s+include \(([^)]*)\))?/g,
        ),
      ].flatMap(([, name = '', hash, columns = '', included]) => {
        const isKey = [columns, included ?? []]
          .join(',')
          .replace(/,$/, '')
          .split(',')
          .every((column) => /_(?:id|at)( desc)?$/.test(column.trim()))
        return hash !== undefined || isKey ? [] : [name]
      }),
    )
    expect(freeText).toEqual([])
  })
})

describe('the shipped views and queries', () => {
  it('show their columns: no select *', () => {
    const broken = shipped.filter(({ code }) => /select\s+(?:\w+\.)?\*/.test(code))
    expect(broken.map(({ path }) => path)).toEqual([])
  })

  it('are one view per file, named after the file, with a description beside it', () => {
    for (const { path, code } of readSql('sql/views')) {
      if (path.startsWith('sql/views/fragments/')) continue
      const name = basename(path, '.sql')
      const views = [...code.matchAll(/create (?:materialized )?view \{\{\w+\}\}\.(\w+)/g)].map(
        ([, view]) => view,
      )
      expect({ path, views }).toEqual({ path, views: [name] })
      expect(existsSync(join(ROOT, path.replace(/sql$/, 'yml'))), path).toBe(true)
    }
  })
})

interface SqlText {
  readonly path: string
  readonly sql: string
}

/** Texts in src that are statements, with ‹…› in place of `${…}`. */
function statementsOf(path: string): SqlText[] {
  const text = readFileSync(join(ROOT, 'src', path), 'utf8')
  const found: SqlText[] = []
  const visit = (node: ts.Node): void => {
    const isText = ts.isNoSubstitutionTemplateLiteral(node) || ts.isStringLiteral(node)
    const sql = isText ? node.text : ts.isTemplateExpression(node) ? templateText(node) : ''
    if (
      /^\s*(?:with \w+ as|select\b[\s\S]*\bfrom\b|insert into|update \S+|delete from)/.test(sql)
    ) {
      found.push({ path, sql })
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true))
  return found
}

function templateText(node: ts.TemplateExpression): string {
  const spans = node.templateSpans.map(
    ({ expression, literal }) => `‹${expression.getText()}›${literal.text}`,
  )
  return node.head.text + spans.join('')
}

const statements = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => /^(?:warehouse|sync|webhooks)[/\\].*\.ts$/.test(path))
  .flatMap(statementsOf)

describe('the statements in src', () => {
  it('are found', () => {
    expect(statements.length).toBeGreaterThan(15)
  })

  it('take no time, chance or subquery in do update: the time is a value of the row', () => {
    const broken = statements.filter(({ sql }) => {
      const update = sql.split(/do update\s+set/)[1]?.split(/\n(?:where|returning)\b/)[0] ?? ''
      return /\bnow\(\)|clock_timestamp|current_timestamp|random\(\)|\(\s*select\b/.test(update)
    })
    expect(broken).toEqual([])
  })

  it('use no merge, and lock no row of a data table for a queue', () => {
    const broken = statements.filter(({ sql }) => /\bmerge into\b/.test(sql))
    expect(broken).toEqual([])
  })
})
