import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

const SOURCE = fileURLToPath(new URL('../../src', import.meta.url))
const STATEMENT =
  /\b(?:select\b[\s\S]*\bfrom\b|insert into|update \S+[\s\S]*\bset\b|delete from|set local|alter |create (?:or replace|role|schema|table|unlogged|view)|drop |grant |revoke |truncate |analyze |comment on |declare )/

interface Interpolation {
  readonly expression: string
  /** The text before and after it. */
  readonly before: string
  readonly after: string
  /** It comes from constants and through the functions that quote. */
  readonly isMadeHere: boolean
}

const known = new Map<string, readonly Interpolation[]>()

/** Interpolated values of texts that are statements; each text is searched once. */
function interpolationsIn(path: string, text: string): readonly Interpolation[] {
  const found = known.get(text) ?? findInterpolations(path, text)
  known.set(text, found)
  return found
}

function findInterpolations(path: string, text: string): Interpolation[] {
  const found: Interpolation[] = []
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const isMadeHere = safeExpressions(source)
  const visit = (node: ts.Node): void => {
    if (ts.isTemplateExpression(node) && !isSaid(node)) {
      const literals = [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)]
      if (STATEMENT.test(literals.join('‹›'))) {
        for (const [index, { expression }] of node.templateSpans.entries()) {
          found.push({
            expression: expression.getText(),
            before: literals[index] ?? '',
            after: literals[index + 1] ?? '',
            isMadeHere: isMadeHere(expression),
          })
        }
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

/** The message of an error, or what a call of the warehouse says it is doing: text for people. */
function isSaid(node: ts.TemplateExpression): boolean {
  let text: ts.Node = node
  while (ts.isBinaryExpression(text.parent)) text = text.parent
  const { parent } = text
  if (ts.isNewExpression(parent)) return true
  if (!ts.isCallExpression(parent) || parent.arguments[0] !== text) return false
  const called = parent.expression
  if (!ts.isPropertyAccessExpression(called)) return false
  return parent.arguments.length > 1 || called.name.text.startsWith('print')
}

/** Functions whose answer is SQL of constants and of names that they quote. */
const MAKES_SQL = [
  'quoteIdentifier',
  'quoteText',
  'quotedName',
  'qualified',
  'withSchemaNames',
  'lookUpSql',
]

/** Whether an expression is a constant, a name that was quoted, or made of such in this file. */
function safeExpressions(source: ts.SourceFile): (node: ts.Expression) => boolean {
  const initializers = new Map<string, (ts.Expression | undefined)[]>()
  const collect = (node: ts.Node): void => {
    const isBinding = ts.isVariableDeclaration(node) || ts.isParameter(node)
    if (isBinding || ts.isBindingElement(node)) {
      const names = ts.isIdentifier(node.name) ? [node.name.text] : []
      const isAwaited = node.initializer !== undefined && ts.isAwaitExpression(node.initializer)
      const value = ts.isVariableDeclaration(node) && !isAwaited ? node.initializer : undefined
      for (const name of names) initializers.set(name, [...(initializers.get(name) ?? []), value])
    }
    ts.forEachChild(node, collect)
  }
  collect(source)
  const isSafe = (node: ts.Expression | undefined, seen: readonly string[]): boolean => {
    if (node === undefined) return false
    if (ts.isStringLiteralLike(node) || ts.isNumericLiteral(node)) return true
    if (/^[\w. ?+()]+\.length(?: [+-] (?:\d+|[\w. ]+\.length))?$/.test(node.getText())) return true
    if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node)) {
      return isSafe(node.expression, seen)
    }
    if (ts.isTemplateExpression(node)) {
      return node.templateSpans.every(({ expression }) => isSafe(expression, seen))
    }
    if (ts.isConditionalExpression(node)) {
      return isSafe(node.whenTrue, seen) && isSafe(node.whenFalse, seen)
    }
    if (ts.isCallExpression(node)) {
      const called = node.expression
      if (ts.isIdentifier(called)) return MAKES_SQL.includes(called.text)
      if (/^pg\.escape(?:Identifier|Literal)$/.test(called.getText())) return true
      if (/(?:^|\.)names\.(?:table|in)$/.test(called.getText())) return true
      // names.map(quoteIdentifier).join(', ')
      return /\.map\(quoteIdentifier\)\.join\('[^']*'\)$/.test(node.getText())
    }
    if (!ts.isIdentifier(node)) return false
    if (/^[A-Z][A-Z_]+$/.test(node.text)) return true
    const values = initializers.get(node.text)
    if (values === undefined || seen.includes(node.text)) return false
    return values.every((value) => isSafe(value, [...seen, node.text]))
  }
  return (node) => isSafe(node, [])
}

/**
 * Modules whose statements are made of the columns of our resource types, which are constants, and
 * of numbers of parameters.
 */
const OF_OUR_COLUMNS = [
  // Of those in the catalogue, each quoted; and statements of DuckDB.
  'export-table',
  'stage-rows',
  'write-files',
  // Text that is compared and never run.
  'describe-schema',
  'compare-rows',
  'container-children',
  // Of the tables and conditions that it lists itself.
  'customer-access',
  'derive-anew',
  'future-stamps',
  'history',
  'incoming-rows',
  'row-digests',
  'pass-shares',
  'stored-rows',
  'shipped-views',
  'transport-event-lists',
  'upsert',
  'vessel-positions',
].map((name) => `${name}.ts`)

/** Others that were looked at one by one: each is one of some texts of the same module. */
const LOOKED_AT: readonly string[] = [
  // Sentences for people, who run the statement in them.
  'migrate.ts: role',
  'migrate.ts: names.sync',
  // As the catalogue's own `format` quoted it.
  'roles.ts: table',
  'replication-slots.ts: drop',
  'replication-slots.ts: formatBytes(keptBytes ?? 0)',
  'absences.ts: key',
  'lease.ts: assignment',
  // A person's own, which a cursor takes as a query and nothing else.
  'read-answer.ts: sqlText',
  'read-status.ts: stream',
  'lease.ts: condition',
  // One of ours, a constant of the sessions; a table of the catalogue, quoted.
  'moving-statements.ts: name',
  'plan-distribution.ts: qualifiedName',
  'tombstones.ts: key',
  'claim-notifications.ts: condition',
]

/** Unquoted values in a statement that were neither made by our code nor reviewed. */
function bare(path: string, text: string): string[] {
  if (OF_OUR_COLUMNS.includes(basename(path))) return []
  return interpolationsIn(path, text)
    .filter(({ isMadeHere }) => !isMadeHere)
    .map(({ expression }) => `${basename(path)}: ${expression}`)
    .filter((found) => !LOOKED_AT.includes(found))
}

/**
 * Our own names that are variables: names of streams and of stored views.
 */
const OWN_NAMES = ['read-status.ts: stream', 'shipped-views.ts: name', 'shipped-views.ts: source']

/** Values from outside that are quoted by hand; our own constants are allowed there. */
function quotedByHand(path: string, text: string): string[] {
  return interpolationsIn(path, text)
    .filter(({ before, after }) => /['"]$/.test(before) && /^['"]/.test(after))
    .filter(({ expression }) => !/^[A-Z][A-Z_]+$/.test(expression))
    .filter(({ expression }) => !OWN_NAMES.includes(`${basename(path)}: ${expression}`))
    .map(({ expression }) => `src/${path}: ${expression}`)
}

const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter((path) =>
    /^(?:ingest|sync|webhooks|status|serve|commands|warehouse|extensions)[/\\].*\.ts$/.test(path),
  )
  .map((path) => ({ path, text: readFileSync(join(SOURCE, path), 'utf8') }))

describe('texts of statements', { tags: ['S6'] }, () => {
  it('are found', { tags: ['S6'] }, () => {
    expect(files.flatMap(({ path, text }) => interpolationsIn(path, text)).length).toBeGreaterThan(
      100,
    )
  })

  it(
    'put nothing between quotes: values are bound, and identifiers go through quoteIdentifier',
    { tags: ['S6'] },
    () => {
      expect(files.flatMap(({ path, text }) => quotedByHand(path, text))).toEqual([])
    },
  )

  it(
    'put nothing bare: what is no constant goes through quoteIdentifier',
    { tags: ['FC1'] },
    () => {
      expect(files.flatMap(({ path, text }) => bare(path, text))).toEqual([])
    },
  )

  it('have every exception in use', { tags: ['FC1'] }, () => {
    const found = files.flatMap(({ path, text }) =>
      interpolationsIn(path, text).map(({ expression }) => `${basename(path)}: ${expression}`),
    )
    expect(LOOKED_AT.filter((one) => !found.includes(one))).toEqual([])
    expect(
      OF_OUR_COLUMNS.filter((one) => !files.some(({ path }) => basename(path) === one)),
    ).toEqual([])
  })

  it('would be caught with a bare one', { tags: ['FC1'] }, () => {
    const inQuery = (text: string): string => `await session.query('x', ${text})`
    const kind = 'for (const { kind } of installed) '
    expect(
      bare('probe.ts', kind + inQuery('`drop ${kind} if exists ${quoteIdentifier(x)}`')),
    ).toEqual(['probe.ts: kind'])
    expect(bare('probe.ts', inQuery("`truncate ${names.table('ports')}`"))).toEqual([])
    expect(bare('probe.ts', inQuery('`truncate ${quoteIdentifier(x)}.${row.name}`'))).toEqual([
      'probe.ts: row.name',
    ])
    expect(
      bare('probe.ts', `const rows = await load(); ${inQuery('`select a from ${rows}`')}`),
    ).toEqual(['probe.ts: rows'])
    expect(
      bare('probe.ts', `const table = quoteIdentifier(x); ${inQuery('`select a from ${table}`')}`),
    ).toEqual([])
  })

  it('quote identifiers in one function only', { tags: ['S6'] }, () => {
    const quoting = files
      .filter(({ path }) => !/^(?:commands|extensions\/answers\/output)\//.test(path))
      .filter(({ text }) => text.includes(`replaceAll('"', '""')`))
    expect(quoting.map(({ path }) => basename(path))).toEqual(['schema-names.ts'])
  })

  it('would be caught if they did', { tags: ['S6'] }, () => {
    const text = 'query("x", `select a from b where c = \'${name}\'`)'
    expect(quotedByHand('probe.ts', text)).toEqual(['src/probe.ts: name'])
    expect(quotedByHand('probe.ts', 'query(`select a from "${schema}".b`)')).toEqual([
      'src/probe.ts: schema',
    ])
    expect(quotedByHand('probe.ts', 'query(`select a from ${quoteIdentifier(x)}.b`)')).toEqual([])
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
    ...imported.flatMap(([, names = '']) =>
      names
        .replaceAll(/[{}]/g, '')
        .split(',')
        .map((name) => name.trim()),
    ),
    ...called.map(([, how = '']) => `${how}()`),
  ].filter((name) => name !== '')
}

describe('what the source sends', { tags: ['S8'] }, () => {
  it(
    'names no file: nothing that sees it can open one, and the warehouse only reads what is shipped',
    { tags: ['S8'] },
    () => {
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
        'warehouse/schema/compare-schema.ts: readFile',
        'warehouse/schema/run-migrations.ts: readFile, readdir',
        'warehouse/schema/shipped-views.ts: readFile, readdir',
      ])
    },
  )

  it.each([
    [
      `import { readFile } from 'node:fs/promises'\nimport { open } from 'node:fs'`,
      'readFile,open',
    ],
    [`import * as files from 'node:fs'`, '* as files'],
    [`import files from "fs"`, 'files'],
    [`const { open } = await import('fs/promises')`, 'import()'],
    [`const files = require('node:fs')`, 'require()'],
    [`process.getBuiltinModule('fs')`, 'getBuiltinModule()'],
  ])('would be caught if it did: %s', { tags: ['S8'] }, (text, names) => {
    expect(fileFunctionsOf(text).join(',')).toBe(names)
  })
})
