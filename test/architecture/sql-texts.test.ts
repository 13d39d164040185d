import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

const SOURCE = fileURLToPath(new URL('../../src', import.meta.url))
const STATEMENT =
  /\b(?:select\b[\s\S]*\bfrom\b|insert into|update \S+[\s\S]*\bset\b|delete from|set local|alter |create (?:role|schema|table|view)|drop |grant )/

interface Interpolation {
  readonly expression: string
  /** What stands before and after it. */
  readonly before: string
  readonly after: string
}

/** What is put into texts that are statements. */
function interpolationsIn(path: string, text: string): Interpolation[] {
  const found: Interpolation[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isTemplateExpression(node)) {
      const literals = [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)]
      if (STATEMENT.test(literals.join('‹›'))) {
        for (const [index, { expression }] of node.templateSpans.entries()) {
          found.push({
            expression: expression.getText(),
            before: literals[index] ?? '',
            after: literals[index + 1] ?? '',
          })
        }
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true))
  return found
}

/** Names of ours that are no constants: of the streams there are, and of the views that are stored. */
const OWN_NAMES = [
  `${join('warehouse', 'stream-status.ts')}: stream`,
  `${join('warehouse', 'stored-views.ts')}: name`,
  `${join('warehouse', 'stored-views.ts')}: target`,
]

/** A value of somebody's put between quotes; a constant of our own may stand there. */
function quotedByHand(path: string, text: string): string[] {
  return interpolationsIn(path, text)
    .filter(({ before, after }) => /['"]$/.test(before) && /^['"]/.test(after))
    .filter(({ expression }) => !/^[A-Z][A-Z_]+$/.test(expression))
    .filter(({ expression }) => !OWN_NAMES.includes(`${path}: ${expression}`))
    .map(({ expression }) => `src/${path}: ${expression}`)
}

const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter((path) => /^(?:warehouse|sync|webhooks|serve|commands)[/\\].*\.ts$/.test(path))
  .map((path) => ({ path, text: readFileSync(join(SOURCE, path), 'utf8') }))

describe('S6: texts of statements', () => {
  it('S6: are found', () => {
    expect(files.flatMap(({ path, text }) => interpolationsIn(path, text)).length).toBeGreaterThan(
      100,
    )
  })

  it('S6: put nothing between quotes: values are bound, and identifiers go through quoteIdentifier', () => {
    expect(files.flatMap(({ path, text }) => quotedByHand(path, text))).toEqual([])
  })

  it('S6: quote identifiers in one function only', () => {
    const quoting = files
      .filter(({ path }) => !path.startsWith('commands'))
      .filter(({ text }) => text.includes(`replaceAll('"', '""')`))
    expect(quoting.map(({ path }) => path)).toEqual([join('warehouse', 'schema-names.ts')])
  })

  it('S6: would be caught if they did', () => {
    const text = 'query("x", `select a from b where c = \'${name}\'`)'
    expect(quotedByHand('probe.ts', text)).toEqual(['src/probe.ts: name'])
    expect(quotedByHand('probe.ts', 'query(`select a from "${schema}".b`)')).toEqual([
      'src/probe.ts: schema',
    ])
    expect(quotedByHand('probe.ts', 'query(`select a from ${quoteIdentifier(x)}.b`)')).toEqual([])
  })
})

const FILES = `['"](?:node:)?fs(?:/promises)?['"]`

/** What a module takes of Node's way to files, whichever way it takes it. */
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

describe('S8: what the source sends', () => {
  it('S8: names no file: nothing that sees it can open one, and the warehouse only reads what is shipped', () => {
    const all = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
    const opening = all
      .filter((path) => /^(?:api|jsonapi|resources|sync|webhooks|warehouse)[/\\].*\.ts$/.test(path))
      .flatMap((path) => {
        const names = fileFunctionsOf(readFileSync(join(SOURCE, path), 'utf8'))
        return names.length === 0 ? [] : [`${path}: ${names.join(', ')}`]
      })
    expect(opening.sort()).toEqual([
      'warehouse/compare-schema.ts: readFile',
      'warehouse/migrate.ts: readFile, readdir',
      'warehouse/read-views.ts: readFile, readdir',
      'warehouse/shipped-queries.ts: readFile, readdir',
    ])
  })

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
  ])('S8: would be caught if it did: %s', (text, names) => {
    expect(fileFunctionsOf(text).join(',')).toBe(names)
  })
})
