import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'
import { findPhrases } from './prose.js'

const EXTENSIONS = 'src/extensions/'
const LISTS_EXTENSIONS = 'src/extensions.ts'
const SIMULATOR = /^src\/(?:extensions\/)?simulator\//

/** Every figure of the house, by what it says. */
export function measureHouse(root) {
  const source = filesBelow(root, 'src', '.ts')
  const own = source.filter(({ path }) => !SIMULATOR.test(path))
  const core = own.filter(({ path }) => !path.startsWith(EXTENSIONS))
  const tests = filesBelow(root, 'test', '.ts')
  const sql = filesBelow(root, 'sql', '.sql')
  return {
    'core: lines': linesOf(core),
    'core: files': core.length,
    'src without the simulator: lines': linesOf(own),
    'sql: lines': linesOf(sql),
    'test: lines': linesOf(tests),
    'imports of the core from extensions': importsFromExtensions(core),
    'statements by kysely': countCalls(own, isOfKysely),
    'statements by text': countCalls(own, isOfText),
    'frames of the service checked by a schema': schemasOf(
      readFile(root, 'src/source/jsonapi/schemas.ts'),
    ),
    'interpolated SQL texts': own.reduce((sum, file) => sum + interpolatedTexts(file), 0),
    mutants: JSON.parse(readFile(root, 'test/catalogue/mutants.json').text).length,
    'stilted phrases': sumOf(countPhrasesByRoom(root)),
  }
}

/** How many stilted phrases each room has. */
export function countPhrasesByRoom(root) {
  const rooms = {}
  for (const { room } of findPhrasesByRoom(root)) rooms[room] = (rooms[room] ?? 0) + 1
  return rooms
}

/** Stilted phrases with their place. A room is the first two folders of a path. */
export function findPhrasesByRoom(root) {
  const files = [
    ...['src', 'test'].flatMap((folder) => filesBelow(root, folder, '.ts')),
    // A released migration is never changed, and schema.sql is written from them.
    ...filesBelow(root, 'sql/views', '.sql'),
    ...filesBelow(root, 'docs', '.md'),
    readFile(root, 'README.md'),
  ]
  return files.flatMap(({ path, text }) => {
    const room = dirname(path).split('/').slice(0, 2).join('/')
    return findPhrases(path, text).map((phrase) => ({ room, path, ...phrase }))
  })
}

/** Text files below a folder, as paths from the root. */
export function filesBelow(root, folder, extension) {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(extension))
    .sort()
    .map((path) => readFile(root, join(folder, path)))
}

function readFile(root, path) {
  return { path, text: readFileSync(join(root, path), 'utf8') }
}

const sumOf = (counts) => Object.values(counts).reduce((sum, count) => sum + count, 0)

const linesOf = (files) => files.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0)

function importsFromExtensions(core) {
  return core
    .filter(({ path }) => path !== LISTS_EXTENSIONS)
    .flatMap(({ path, text }) =>
      ts
        .preProcessFile(text, true, true)
        .importedFiles.map(({ fileName }) => join(dirname(path), fileName)),
    )
    .filter((target) => target.startsWith(EXTENSIONS)).length
}

function countCalls(files, isMeant) {
  let count = 0
  for (const { path, text } of files) {
    const visit = (node) => {
      if (isMeant(node)) count += 1
      ts.forEachChild(node, visit)
    }
    visit(parse(path, text))
  }
  return count
}

/** A text that becomes SQL as it is. */
function isOfText(node) {
  if (!ts.isCallExpression(node)) return false
  return /^(?:sql\.raw|rawStatement|CompiledQuery\.raw)$/.test(node.expression.getText())
}

/** The `sql` tag, and the first link of a builder's chain. */
function isOfKysely(node) {
  if (ts.isTaggedTemplateExpression(node)) return /^sql$/.test(node.tag.getText())
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false
  return /^(?:selectFrom|insertInto|updateTable|deleteFrom)$/.test(node.expression.name.text)
}

/** Schemas that a file offers to others. */
function schemasOf({ path, text }) {
  const isSchema = (node) =>
    ts.isVariableStatement(node) &&
    node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) &&
    node.declarationList.declarations.some(({ name }) => /Schema$/.test(name.getText()))
  return parse(path, text).statements.filter(isSchema).length
}

const STATEMENT =
  /\b(?:select\b[\s\S]*\bfrom\b|insert into|update \S+[\s\S]*\bset\b|delete from|alter |create (?:or replace|role|schema|table|view)|drop |grant |revoke )/

function interpolatedTexts({ path, text }) {
  let count = 0
  const visit = (node) => {
    const isPlain = ts.isTemplateExpression(node) && !ts.isTaggedTemplateExpression(node.parent)
    if (isPlain && STATEMENT.test(node.getText())) count += 1
    ts.forEachChild(node, visit)
  }
  visit(parse(path, text))
  return count
}

const parsed = new Map()

function parse(path, text) {
  const known = parsed.get(text)
  if (known !== undefined) return known
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  parsed.set(text, source)
  return source
}
