import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

const SOURCE = fileURLToPath(new URL('../../src', import.meta.url))

interface Layer {
  /** Modules of src it may import; `*` for all. */
  readonly may: readonly string[]
  /** Packages, and parts of Node that reach out of the process; other parts of Node are free unless the module is pure. */
  readonly packages?: readonly string[]
  /** Takes values and returns values: no clock, chance, log, network or file. */
  readonly isPure?: boolean
}

/** Who may import whom: a module is a file or a directory of src. */
const LAYERS: Readonly<Record<string, Layer>> = {
  errors: { may: [], isPure: true },
  'exit-code': { may: ['errors'], isPure: true },
  'service-address': { may: [], isPure: true },
  'require-service': { may: ['errors'], isPure: true },
  'database-address': { may: [], isPure: true },
  failpoint: { may: [], isPure: true },
  'scram-client': { may: ['errors'], packages: ['pg'] },
  'account-key': { may: [], isPure: true },
  'place-of-pids': { may: [], packages: ['node:fs'] },
  'waiting-line': { may: [] },
  suggest: { may: [], isPure: true },
  logger: { may: ['errors'], packages: ['pino'] },
  config: {
    may: [
      'config-sources',
      'database-address',
      'errors',
      'failpoint',
      'serve-settings',
      'service-address',
      'setting-kinds',
      'suggest',
      'webhook-settings',
      'webhook-watch-settings',
    ],
    packages: ['zod'],
  },
  'setting-kinds': { may: [], packages: ['zod'], isPure: true },
  'webhook-settings': { may: ['setting-kinds', 'webhook-secret', 'errors'], isPure: true },
  'webhook-watch-settings': { may: ['setting-kinds'], isPure: true },
  'serve-settings': { may: ['setting-kinds'], packages: ['node-cron'], isPure: true },
  'webhook-secret': { may: [], isPure: true },
  'config-sources': { may: ['errors'], packages: ['node:fs'] },
  'settings-documents': { may: ['config'] },
  retry: { may: ['errors'] },
  jsonapi: { may: ['errors'], packages: ['zod'], isPure: true },
  resources: { may: ['jsonapi', 'errors'], packages: ['zod'], isPure: true },
  api: {
    may: ['jsonapi', 'retry', 'waiting-line', 'logger', 'errors', 'service-address'],
    packages: ['undici', 'node:http'],
  },
  warehouse: {
    may: [
      'resources',
      'jsonapi',
      'retry',
      'failpoint',
      'scram-client',
      'waiting-line',
      'logger',
      'errors',
    ],
    packages: ['pg', 'kysely', 'node:fs'],
  },
  database: {
    may: ['scram-client', 'logger', 'errors'],
    packages: ['pg', 'node:fs', 'node:net', 'node:child_process', 'node:timers'],
  },
  http: { may: ['logger', 'errors'], packages: ['node:http', 'node:net'] },
  webhooks: {
    may: [
      'http',
      'api',
      'sync',
      'warehouse',
      'resources',
      'jsonapi',
      'retry',
      'failpoint',
      'webhook-secret',
      'logger',
      'errors',
    ],
    packages: ['node:http', 'node:net'],
  },
  sync: {
    may: [
      'api',
      'warehouse',
      'resources',
      'jsonapi',
      'retry',
      'failpoint',
      'place-of-pids',
      'logger',
      'errors',
      'exit-code',
    ],
    packages: ['p-limit'],
  },
  schedule: { may: ['logger', 'errors'], packages: ['node-cron'] },
  serve: {
    may: [
      'http',
      'webhooks',
      'sync',
      'warehouse',
      'api',
      'schedule',
      'config',
      'webhook-watch-settings',
      'retry',
      'failpoint',
      'logger',
      'errors',
    ],
    packages: ['prom-client', 'node:http', 'node:perf_hooks'],
  },
  simulator: { may: ['jsonapi'], packages: ['node:http', 'node:https', 'node:net', 'node:timers'] },
  app: { may: ['*'], packages: ['node:fs'] },
  commands: {
    may: ['*'],
    packages: ['commander', 'node:fs', 'node:child_process'],
  },
  cli: { may: ['commands', 'app', 'config', 'errors', 'exit-code'] },
}

/** What nobody may import because it is the top: `app` only from commands and cli, `cli` from nowhere. */
const TOPS: Readonly<Record<string, readonly string[]>> = {
  app: ['commands', 'cli'],
  commands: ['cli'],
  cli: [],
}

/** Parts of Node through which a module reaches out of the process. */
const OUTSIDE =
  /^node:(?:fs|http|https|http2|net|tls|dgram|dns|timers|child_process|worker_threads|cluster)(?:\/|$)/

interface SourceFile {
  readonly path: string
  readonly module: string
  readonly text: string
  readonly imports: readonly string[]
}

const files: readonly SourceFile[] = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => {
    const text = readFileSync(join(SOURCE, path), 'utf8')
    const imports = ts.preProcessFile(text, true, true).importedFiles
    return {
      path,
      module: moduleOf(path),
      text,
      imports: imports.map(({ fileName }) => fileName),
    }
  })

function moduleOf(path: string): string {
  return (path.split(/[/\\]/)[0] ?? '').replace(/\.(?:ts|js)$/, '')
}

const RULE = 'see "who may import whom" in test/architecture/layers.test.ts'

describe('who may import whom', () => {
  it('names every module of src', () => {
    const unnamed = [...new Set(files.map(({ module }) => module))].filter(
      (module) => !(module in LAYERS),
    )
    expect(unnamed, `give each a line: ${RULE}`).toEqual([])
  })

  it('is kept by every file', () => {
    const broken = files.flatMap(({ path, module, imports }) => {
      const layer = LAYERS[module] ?? { may: [] }
      return imports.flatMap((name) => {
        if (!name.startsWith('.')) return []
        const target = moduleOf(relative(SOURCE, join(SOURCE, dirname(path), name)))
        const isAllowed =
          target === module ||
          ((layer.may.includes('*') || layer.may.includes(target)) &&
            (TOPS[target]?.includes(module) ?? true))
        return isAllowed ? [] : [`src/${path}: ${module} may not import ${target} (${name})`]
      })
    })
    expect(broken, RULE).toEqual([])
  })

  it('names the packages of each module', () => {
    const broken = files.flatMap(({ path, module, imports }) =>
      imports
        .filter(
          (name) => !name.startsWith('.') && (OUTSIDE.test(name) || !name.startsWith('node:')),
        )
        .filter((name) => {
          const base = name.startsWith('@') ? name : name.split('/')[0]
          return !(LAYERS[module]?.packages ?? []).includes(base ?? name)
        })
        .map((name) => `src/${path}: ${module} may not import the package ${name}`),
    )
    expect(broken, RULE).toEqual([])
  })

  it('has every relative import end in .js, and none reach out of src', () => {
    const broken = files.flatMap(({ path, imports }) =>
      imports
        .filter((name) => name.startsWith('.'))
        .filter((name) => {
          const target = relative(SOURCE, join(SOURCE, dirname(path), name))
          return !name.endsWith('.js') || target.startsWith('..')
        })
        .map((name) => `src/${path}: ${name}`),
    )
    expect(broken).toEqual([])
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

/** Names that are read or called, and `new Date()` without an argument; comments and texts do not count. */
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

describe('the pure modules', () => {
  const pure = files.filter(({ module }) => LAYERS[module]?.isPure)

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
    const file = { path: 'resources/probe.ts', module: 'resources', text, imports: [] }
    expect(impurities(file)).toEqual(['Date.now'])
    expect(impurities({ ...file, text: 'export const at = new Date()' })).toEqual(['new Date()'])
  })
})
