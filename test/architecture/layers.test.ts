import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it, test } from 'vitest'
import { ROOMS } from './rooms.js'

const SOURCE = fileURLToPath(new URL('../../src', import.meta.url))

/** Parts of Node through which a module reaches out of the process. */
const OUTSIDE =
  /^node:(?:fs|http|https|http2|net|tls|dgram|dns|timers|child_process|worker_threads|cluster)(?:\/|$)/

interface SourceFile {
  readonly path: string
  readonly room: string
  readonly text: string
  readonly imports: readonly string[]
  /** Files of src that it imports, as paths below src. */
  readonly targets: readonly string[]
}

const files: readonly SourceFile[] = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => {
    const text = readFileSync(join(SOURCE, path), 'utf8')
    const imports = ts
      .preProcessFile(text, true, true)
      .importedFiles.map(({ fileName }) => fileName)
    const targets = imports
      .filter((name) => name.startsWith('.'))
      .map((name) => join(dirname(path), name).replace(/\.js$/, '.ts'))
    return { path, room: roomOf(path), text, imports, targets }
  })

function roomOf(path: string): string {
  const [first = '', second = '', ...rest] = path.split(/[/\\]/)
  const isDivided = Object.keys(ROOMS).some((room) => room.startsWith(`${first}/`))
  if (isDivided && rest.length > 0) return `${first}/${second}`
  return first.replace(/\.(?:ts|js)$/, '')
}

/** Modules that are loaded with a file: neither types, nor imports that a function makes. */
function loadedWith({ path, text }: SourceFile): string[] {
  return ts.createSourceFile(path, text, ts.ScriptTarget.Latest).statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) {
      return []
    }
    return statement.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword
      ? []
      : [statement.moduleSpecifier.text]
  })
}

/** Each circle once, from its first file in the alphabet. */
function circlesOf(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const circles = new Set<string>()
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): void => {
    const at = path.indexOf(file)
    if (at !== -1) {
      const circle = path.slice(at)
      const first = circle.indexOf([...circle].sort()[0] ?? file)
      const turned = [...circle.slice(first), ...circle.slice(0, first)]
      circles.add([...turned, turned[0]].join(' → '))
      return
    }
    if (done.has(file)) return
    for (const target of graph.get(file) ?? []) visit(target, [...path, file])
    done.add(file)
  }
  for (const file of graph.keys()) visit(file, [])
  return [...circles].sort()
}

/** Where to look, and where a file that fits nowhere belongs. */
const RULE = [
  'Each room of src imports only rooms below it (test/architecture/rooms.ts):',
  ...Object.entries(ROOMS).map(([room, { holds }]) => `  ${room}: ${holds}`),
  'Move the file to the room that says what it does, or what it imports down to a lower room.',
].join('\n')

/** Some twenty files are seen at a glance; commands are as many as there are. */
const MOST_FILES = 24
const MOST_LINES = 420

describe('who may import whom', () => {
  it('names every room of src', () => {
    const unnamed = [...new Set(files.map(({ room }) => room))].filter((room) => !(room in ROOMS))
    expect(unnamed, `give each a line: ${RULE}`).toEqual([])
  })

  it('is kept by every file', () => {
    const broken = files.flatMap(({ path, room, targets }) =>
      targets.flatMap((target) => {
        const to = roomOf(target)
        const may = ROOMS[room]?.may ?? []
        const [whole = to] = to.split('/')
        const isFree = to === room || ['*', to, whole].some((one) => may.includes(one))
        const [from = room] = room.split('/')
        const { onlyFor } = ROOMS[to] ?? {}
        const isOpen = to === room || (onlyFor?.some((one) => one === room || one === from) ?? true)
        return isFree && isOpen ? [] : [`src/${path}: ${room} may not import ${to} (${target})`]
      }),
    )
    expect(broken, RULE).toEqual([])
  })

  it('names the packages of each room', () => {
    const broken = files.flatMap(({ path, room, imports }) =>
      imports
        .filter(
          (name) => !name.startsWith('.') && (OUTSIDE.test(name) || !name.startsWith('node:')),
        )
        .filter((name) => {
          const base = name.startsWith('@') ? name : name.split('/')[0]
          return !(ROOMS[room]?.packages ?? []).includes(base ?? name)
        })
        .map((name) => `src/${path}: ${room} may not import the package ${name}`),
    )
    expect(broken, RULE).toEqual([])
  })

  it('runs in no circle between files', () => {
    const circles = circlesOf(new Map(files.map(({ path, targets }) => [path, targets])))
    const advice = 'move what both need, often a type, into the lower file or one of its own'
    expect(circles, advice).toEqual([])
  })

  it('would notice a circle', () => {
    const graph = new Map([
      ['a.ts', ['b.ts']],
      ['b.ts', ['c.ts']],
      ['c.ts', ['a.ts']],
      ['d.ts', ['a.ts']],
    ])
    expect(circlesOf(graph)).toEqual(['a.ts → b.ts → c.ts → a.ts'])
  })
})

describe('a file is found by guessing', () => {
  it('because no two have one base name', () => {
    const names = files.map(({ path }) => basename(path))
    const twice = names.filter((name, at) => names.indexOf(name) !== at)
    expect(twice, 'rename one: a name says what is inside').toEqual([])
  })

  it('because its folder is seen at a glance', () => {
    const folders = new Map<string, number>()
    for (const { path } of files) {
      folders.set(dirname(path), (folders.get(dirname(path)) ?? 0) + 1)
    }
    const full = [...folders].filter(([, count]) => count > MOST_FILES)
    expect(full, 'divide the folder by concept').toEqual([])
  })

  it('because it is short enough to be read', () => {
    const long = files.filter(({ text }) => text.split('\n').length > MOST_LINES)
    expect(
      long.map(({ path }) => path),
      'divide the file by concept',
    ).toEqual([])
  })
})

/** Members by which a value is read that no argument gave. */
const IMPURE: readonly RegExp[] = [
  /^Date\.now$/,
  /^Math\.random$/,
  /^process\./,
  /^performance\./,
  /^console\./,
  /^crypto\.(?:randomUUID|getRandomValues|randomBytes)$/,
  /^(?:setTimeout|setInterval|setImmediate|fetch)$/,
]

/**
 * Names that are read or called, and `new Date()` without an argument; comments and texts do not
 * count.
 */
function impurities({ path, text }: SourceFile): string[] {
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isNewExpression(node) && node.expression.getText() === 'Date') {
      if ((node.arguments ?? []).length === 0) found.push('new Date()')
    }
    const isName =
      ts.isPropertyAccessExpression(node) ||
      (ts.isIdentifier(node) && ts.isCallExpression(node.parent))
    if (isName && IMPURE.some((pattern) => pattern.test(node.getText()))) found.push(node.getText())
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true))
  return found
}

describe('the pure rooms', () => {
  const pure = files.filter(({ room }) => ROOMS[room]?.isPure)

  it('import nothing that reaches out of the process', () => {
    const broken = pure.flatMap(({ path, imports }) =>
      imports
        .filter((name) => OUTSIDE.test(name) || name === 'node:os' || name === 'node:process')
        .map((name) => `src/${path}: ${name}`),
    )
    expect(broken, 'take the value as an argument').toEqual([])
  })

  it('read no clock, chance or environment', () => {
    const broken = pure.flatMap((file) =>
      impurities(file).map((name) => `src/${file.path}: ${name}`),
    )
    expect(broken, 'take the value as an argument').toEqual([])
  })

  it('would be caught if they did', () => {
    const text = `// Date.now() in a comment\nconst one = 'Math.random()'\nexport const two = Date.now()`
    const file = {
      path: 'source/records/probe.ts',
      room: 'source/records',
      text,
      imports: [],
      targets: [],
    }
    expect(impurities(file)).toEqual(['Date.now'])
    expect(impurities({ ...file, text: 'export const at = new Date()' })).toEqual(['new Date()'])
  })
})

/**
 * Files that people write are read by `base/text-file.ts`; these modules read files that programs
 * wrote.
 */
const READERS: readonly string[] = [
  'base/process-place.ts',
  'base/text-file.ts',
  'commands/command-io.ts',
  'config/presets.ts',
  'extensions/lake/bucket-store.ts',
  'extensions/lake/folder-store.ts',
  'warehouse/schema/run-migrations.ts',
  'warehouse/schema/shipped-tables.ts',
  'warehouse/schema/shipped-views.ts',
]

test('one reader reads the files of people', { tags: ['JB1'] }, () => {
  const others = files
    .filter(({ room }) => room !== 'extensions/embedded-postgres')
    .filter(({ text }) => /\b(?:readFile|readFileSync|readSync|createReadStream)\b/.test(text))
    .map(({ path }) => path)
    .filter((path) => !READERS.includes(path))
  expect(others, 'read it with readTextFile').toEqual([])
})

test('the command line starts without the packages of a run', () => {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const packages = new Set<string>()
  const seen = new Set<string>()
  const visit = (path: string): void => {
    const file = byPath.get(path)
    if (file === undefined || seen.has(path)) return
    seen.add(path)
    for (const name of loadedWith(file)) {
      if (name.startsWith('.')) visit(join(dirname(path), name).replace(/\.js$/, '.ts'))
      else packages.add(name)
    }
  }
  visit('cli.ts')
  expect(seen.size).toBeGreaterThan(50)
  // `prepareDriver` must run before the driver is loaded.
  const foreign = [...packages].filter((name) => !name.startsWith('node:'))
  expect(foreign).toEqual(['commander'])
})
