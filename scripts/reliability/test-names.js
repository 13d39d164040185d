import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { caseIdsIn } from './case-ids.js'

const SUITES = new Set(['describe', 'suite'])
const TESTS = new Set(['test', 'it'])
/** What vitest fills in from the values of a table: `%d`, `$name`, `$a.b`; and `${…}` of our own, see `titleOf`. */
const PLACEHOLDER = /%[sdifjoOc#$%]|\$[A-Za-z_][\w.]*|\u0000/g

/**
 * Every test in `test/` below the root, as its source says it: the file, the titles from the outermost suite to the test, and
 * the case ids in them. A title made at run time has an empty place where its values stand.
 */
export function readTestNames(root) {
  return readdirSync(join(root, 'test'), { recursive: true })
    .filter((path) => path.endsWith('.test.ts'))
    .map((path) => `test/${path.replaceAll('\\', '/')}`)
    .sort()
    .flatMap((file) => testsOf(file, readFileSync(join(root, file), 'utf8')))
}

/** The tests in one source text. */
export function testsOf(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const tests = []
  const visit = (node, titles) => {
    const called = ts.isCallExpression(node) ? baseOf(node.expression) : undefined
    if (called !== undefined && SUITES.has(called)) {
      node.arguments.slice(1).forEach((argument) => {
        visit(argument, [...titles, titleOf(node.arguments[0])])
      })
      return
    }
    if (called !== undefined && TESTS.has(called)) {
      const path = [...titles, titleOf(node.arguments[0])]
      tests.push({ file, titles: path, ids: caseIdsIn(path.join(' ')) })
      return
    }
    ts.forEachChild(node, (child) => {
      visit(child, titles)
    })
  }
  visit(source, [])
  return tests
}

/** Whether a test of a report, by its titles, is this one of a source. */
export function isTestOf(test, titles) {
  return (
    test.titles.length === titles.length &&
    test.titles.every((title, index) => patternOf(title).test(titles[index]))
  )
}

/** A title for readers: an ellipsis where values stand. */
export function readableTitle(title) {
  return title.replace(PLACEHOLDER, '…')
}

function patternOf(title) {
  const parts = title.split(PLACEHOLDER)
  return new RegExp(
    `^${parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('[^]*')}$`,
  )
}

/** `test` of `test(…)`, `test.each(…)(…)` and `test.each`…`(…)`; nothing for `x.test(…)` or the table itself. */
function baseOf(callee) {
  if (ts.isIdentifier(callee)) return callee.text
  if (ts.isCallExpression(callee)) return tableOf(callee.expression)
  if (ts.isTaggedTemplateExpression(callee)) return tableOf(callee.tag)
  if (ts.isPropertyAccessExpression(callee) && ts.isIdentifier(callee.expression)) {
    return ['each', 'for', 'runIf', 'skipIf'].includes(callee.name.text) || isRegex(callee)
      ? undefined
      : callee.expression.text
  }
  return undefined
}

function tableOf(callee) {
  return ts.isPropertyAccessExpression(callee) && ts.isIdentifier(callee.expression)
    ? callee.expression.text
    : undefined
}

function isRegex(callee) {
  return callee.name.text === 'test' || callee.name.text === 'exec'
}

function titleOf(node) {
  if (node === undefined) return '\u0000'
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isTemplateExpression(node)) {
    return [node.head.text, ...node.templateSpans.map((span) => span.literal.text)].join('\u0000')
  }
  if (ts.isBinaryExpression(node)) return titleOf(node.left) + titleOf(node.right)
  return '\u0000'
}
