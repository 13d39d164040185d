import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { runInNewContext } from 'node:vm'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'

const source = new URL('../../../src/', import.meta.url)

/** Every regular expression literal of a folder, as in the source. */
function regexesOf(folder: string): { readonly file: string; readonly regex: string }[] {
  const directory = new URL(`${folder}/`, source)
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => {
      const text = readFileSync(new URL(name, directory), 'utf8')
      const file = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true)
      const found: { file: string; regex: string }[] = []
      const visit = (node: ts.Node): void => {
        if (ts.isRegularExpressionLiteral(node)) found.push({ file: name, regex: node.text })
        ts.forEachChild(node, visit)
      }
      visit(file)
      return found
    })
}

/**
 * Folders whose code sees texts of the service, of senders of webhooks and of strangers. The others
 * read settings and arguments of their own user.
 */
const OUTWARD = [
  'extensions/answers/questions',
  'extensions/doctor/verify',
  'http',
  'ingest',
  'serve',
  'source',
  'status',
  'sync',
  'warehouse',
  'webhooks',
]

/** They read settings: DATABASE_URL and TRACKING_API_URL. */
const INWARD = ['session-settings.ts', 'source-account.ts']

const regexes = OUTWARD.flatMap(regexesOf).filter(({ file }) => !INWARD.includes(basename(file)))

const LENGTH = 50_000
const units = [
  ...Array.from('a0-/+._Z: T\\"'),
  '\u0000',
  '\ud83d',
  '/a',
  '-a',
  '0.',
  '\\"',
  '.0',
  'e0',
]
const heads = ['', 'a', '1', '-1', '1.', '1e', '2026-01-01T00:00:00', '2026-01-01T00:00:00.', 'A/']

/** A head that matches, a long run of one kind, and a tail that spoils the match. */
const inputs = heads.flatMap((head) =>
  units.map((unit) => `${head}${unit.repeat(Math.ceil(LENGTH / unit.length))}!`),
)

describe('regular expressions', { tags: ['S9'] }, () => {
  test('are found in the sources', () => {
    expect(regexes.length).toBeGreaterThan(40)
  })

  // In a context of its own, because only there a runaway match can be stopped and told.
  test.each(regexes)('$file $regex takes linear time', ({ regex }) => {
    const script = `{ const pattern = ${regex}; for (const input of inputs) { pattern.lastIndex = 0; pattern.test(input) } }`
    expect(() => {
      runInNewContext(script, { inputs }, { timeout: 5000 })
    }).not.toThrow()
  })

  test('the check itself notices a regular expression that takes exponential time', () => {
    const script = 'for (const input of inputs) /^(?:[/-][a-z-]+)*$/.test(input)'
    expect(() => {
      runInNewContext(script, { inputs: [`${'-'.repeat(60)}!`] }, { timeout: 200 })
    }).toThrow('timed out')
  })
})
