import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

const SUITES = new Set(['describe', 'suite'])
const TESTS = new Set(['test', 'it', 'playHistories'])

/**
 * Every test in `test/` below the root, as its source has it: the file, its own title and the tags
 * of it and its suites.
 */
export function readTaggedTests(root) {
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
  const visit = (node, tags) => {
    const called = ts.isCallExpression(node) ? baseOf(node.expression) : undefined
    if (SUITES.has(called)) {
      const inner = [...tags, ...tagsOf(node.arguments[1])]
      for (const argument of node.arguments.slice(1)) visit(argument, inner)
    } else if (TESTS.has(called)) {
      const title = node.arguments[0]?.getText(source) ?? ''
      tests.push({ file, title, tags: [...new Set([...tags, ...tagsOf(node.arguments[1])])] })
    } else {
      ts.forEachChild(node, (child) => visit(child, tags))
    }
  }
  visit(source, [])
  return tests
}

function tagsOf(options) {
  if (options === undefined || !ts.isObjectLiteralExpression(options)) return []
  const tags = options.properties.find((one) => one.name?.getText() === 'tags')
  return tags === undefined ? [] : tags.initializer.elements.map((one) => one.text)
}

/**
 * `test` of `test(…)`, `test.each(…)(…)` and `test.each`…`(…)`, but not of `x.test(…)` or the table
 * itself.
 */
function baseOf(callee) {
  if (ts.isIdentifier(callee)) return callee.text
  if (ts.isCallExpression(callee)) return ownerOf(callee.expression)
  if (ts.isTaggedTemplateExpression(callee)) return ownerOf(callee.tag)
  const isTable = ['each', 'for', 'runIf', 'skipIf', 'test', 'exec'].includes(callee.name?.text)
  return isTable ? undefined : ownerOf(callee)
}

function ownerOf(callee) {
  if (!ts.isPropertyAccessExpression(callee)) return undefined
  const owner = callee.expression
  if (ts.isIdentifier(owner)) return owner.text
  // `test.skipIf(…).each(…)(…)`
  return ts.isCallExpression(owner) ? ownerOf(owner.expression) : undefined
}
