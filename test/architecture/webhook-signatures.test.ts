import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

const WEBHOOKS = fileURLToPath(new URL('../../src/webhooks', import.meta.url))

/**
 * Names of things whose comparison must not end early. A hash of a body that anybody may know is
 * none.
 */
const SECRET_NAME = /signature|digest|hmac|\bmac\b|wanted|given|secret/i

const COMPARISONS = [
  ts.SyntaxKind.EqualsEqualsToken,
  ts.SyntaxKind.EqualsEqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsToken,
  ts.SyntaxKind.ExclamationEqualsEqualsToken,
]

const COMPARING_METHODS = ['equals', 'compare', 'includes', 'indexOf', 'localeCompare', 'has']

/**
 * Comparisons of a text with something secret by an operator or a method that stops at the first
 * difference.
 */
function earlyEndingComparisons(text: string): string[] {
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isBinaryExpression(node) && COMPARISONS.includes(node.operatorToken.kind)) {
      const sides = [node.left, node.right]
      // With a literal nothing secret is compared: the word 'insecure', undefined.
      const isWithLiteral = sides.some(
        (side) => ts.isLiteralExpression(side) || side.getText() === 'undefined',
      )
      if (!isWithLiteral && sides.some((side) => SECRET_NAME.test(side.getText())))
        found.push(node.getText())
    }
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      const { name, expression } = node.expression
      const parts = [expression, ...node.arguments].map((part) => part.getText())
      if (COMPARING_METHODS.includes(name.text) && parts.some((part) => SECRET_NAME.test(part)))
        found.push(node.getText())
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile('file.ts', text, ts.ScriptTarget.Latest, true))
  return found
}

describe('signatures are compared in constant time', { tags: ['W4'] }, () => {
  it('nowhere by an operator or a method that ends at the first difference', () => {
    const broken = ['receive/signature.ts', 'receive/receive.ts'].flatMap((name) =>
      earlyEndingComparisons(readFileSync(join(WEBHOOKS, name), 'utf8')),
    )
    expect(broken).toEqual([])
  })

  it('in one file only, by timingSafeEqual', () => {
    const files = readdirSync(WEBHOOKS, { recursive: true, encoding: 'utf8' }).filter(
      (name) =>
        name.endsWith('.ts') && /\bcreateHmac\b/.test(readFileSync(join(WEBHOOKS, name), 'utf8')),
    )
    expect(files).toEqual(['receive/signature.ts'])
    const text = readFileSync(join(WEBHOOKS, 'receive/signature.ts'), 'utf8')
    // Called for every secret, and before anything is returned.
    expect(text).toMatch(/for \(const secret of secrets\) \{[^}]*timingSafeEqual\([^}]*\}\s*return/)
    expect(text).not.toMatch(/timingSafeEqual\([^)]*\)\s*(?:&&|\?)/)
  })

  it('would be caught if they were not', () => {
    expect(earlyEndingComparisons('const ok = digest === other')).toEqual(['digest === other'])
    expect(earlyEndingComparisons('if (wanted.equals(given)) run()')).toEqual([
      'wanted.equals(given)',
    ])
    expect(earlyEndingComparisons("if (signature === 'insecure') run()")).toEqual([])
  })
})
