import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { grafanaDashboard } from '../../scripts/documents/grafana-dashboard.js'
import { manPage } from '../../scripts/documents/man-page.js'
import {
  commandsPage,
  configSchema,
  exampleConfig,
  exitCodesPage,
  fakeProcess,
  metricsPage,
  settingsPage,
} from '../../scripts/documents/pages.js'
import { performanceChart, withTable } from '../../scripts/documents/performance-page.js'
import { questionsPage } from '../../scripts/documents/questions-page.js'
import { FIGURES } from '../../bench/figures.js'
import * as exitCodes from '../../src/base/exit-code.js'
import { describeProgram, runCli } from '../../src/commands/program.js'
import { loadConfig } from '../../src/config/load.js'
import { isOfAccount } from '../../src/config/accounts.js'
import { readPresets } from '../../src/config/presets.js'
import { describeSettings } from '../../src/config/settings.js'
import { readShippedQueries } from '../../src/extensions/answers/questions/shipped-queries.js'
import { SUBJECTS } from '../../src/extensions/answers/questions/subjects.js'
import { SchemaNames } from '../../src/warehouse/connection/schema-names.js'
import { ACCOUNT_METRICS } from '../../src/extensions/accounts/serve/account-metrics.js'
import {
  PROCESS_METRICS,
  RECEIVER_METRICS,
  WAREHOUSE_METRICS,
} from '../../src/extensions/metrics/metrics.js'
import { SETTING_GROUPS as groups } from '../support/setting-groups.js'

const allSettings = describeSettings(groups)

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const inRepository = (...path: string[]): string => join(ROOT, ...path)
const read = (...path: string[]): string => readFileSync(inRepository(...path), 'utf8')

const MANIFEST = JSON.parse(read('package.json')) as {
  readonly scripts: Readonly<Record<string, string>>
  readonly engines: { readonly node: string }
}

const KEPT_FIGURES = JSON.parse(read('bench', 'kept-figures.json')) as Parameters<
  typeof withTable
>[2]

const DOCUMENTS = [
  ...readdirSync(ROOT).filter((file) => file.endsWith('.md')),
  ...readdirSync(inRepository('docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => join('docs', file)),
]

/** Decisions and changes also name what is no longer there. */
const OF_TODAY = DOCUMENTS.filter((file) => !/^(?:docs.decisions|CHANGELOG)/.test(file))

/** Made from comments, promises and help that have their own tests. */
const GENERATED = [
  'docs/dictionary.md',
  'docs/reliability.md',
  'docs/commands.md',
  'docs/metrics.md',
]

/** Their rows hold answers, figures or links that do not fit into a line. */
const WIDE_TABLES = [
  'docs/questions.md',
  'docs/ask.md',
  'docs/rules.md',
  'docs/performance.md',
  'docs/dependencies.md',
  'docs/mcp.md',
  'docs/decisions/README.md',
  'docs/troubleshooting.md',
]

const METRICS = {
  ...PROCESS_METRICS,
  ...RECEIVER_METRICS,
  ...WAREHOUSE_METRICS,
  ...ACCOUNT_METRICS,
}

/** Files that a user makes. */
const OF_USERS = ['config/tracking-sync.json']

/** The cells of a table, by the first words of its heading. */
function tableAfter(markdown: string, heading: string): string[][] {
  const [, rest = ''] = markdown.split(`\n| ${heading} |`)
  const [table = ''] = rest.split('\n\n')
  return table
    .split('\n')
    .slice(2)
    .map((row) => row.split('|').slice(1, -1))
}

const quoted = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name!)

const firstCells = (file: string, heading: string): string[] =>
  tableAfter(read('docs', file), heading).flatMap(([cell]) => quoted(cell!))

describe('the generated pages are up to date: run `npm run docs` when one fails', () => {
  it.each([
    ['docs/settings.md', () => settingsPage(allSettings, readPresets())],
    ['config/tracking-sync.example.json', () => exampleConfig(allSettings)],
    [
      'config/tracking-sync.schema.json',
      () => configSchema(allSettings, z.toJSONSchema, isOfAccount),
    ],
    [
      'man/tracking-sync.1',
      async () => manPage(await describeProgram(fakeProcess()), allSettings, exitCodes),
    ],
    [
      'docs/questions.md',
      async () => questionsPage(await readShippedQueries(new SchemaNames('tracking')), SUBJECTS),
    ],
    ['docs/exit-codes.md', () => exitCodesPage(exitCodes)],
    ['docs/performance.md', () => withTable(read('docs/performance.md'), FIGURES, KEPT_FIGURES)],
    ['docs/images/performance.svg', () => performanceChart(FIGURES, KEPT_FIGURES)],
    ['docs/commands.md', () => commandsPage(runCli)],
    ['docs/metrics.md', () => metricsPage(METRICS, read('config/prometheus-rules.yml'))],
    ['config/grafana-dashboard.json', grafanaDashboard],
  ])('%s', async (file, render) => {
    expect(read(file)).toBe(await render())
  })

  it('and the example file is a valid configuration of all defaults', () => {
    const sources = {
      environment: {},
      workingDirectory: inRepository('test', 'architecture'),
      groups,
    }
    const configFile = inRepository('config', 'tracking-sync.example.json')
    const { config, origins } = loadConfig({ ...sources, configFile })
    expect(config).toEqual(loadConfig(sources).config)
    for (const { name, isSecret, defaultValue } of allSettings) {
      if (isSecret === true || defaultValue === undefined) continue
      expect([name, origins[name]]).toEqual([name, 'file'])
    }
  })
})

describe('the schema of the configuration file', () => {
  const schema = z.fromJSONSchema(
    JSON.parse(read('config/tracking-sync.schema.json')) as Parameters<typeof z.fromJSONSchema>[0],
  )
  const example = JSON.parse(read('config/tracking-sync.example.json')) as Record<string, unknown>

  it('accepts the example, which names it', () => {
    expect(schema.safeParse(example).error).toBeUndefined()
    expect(existsSync(inRepository('config', String(example.$schema)))).toBe(true)
  })

  it.each([
    { rateLimitPerMinute: 0 },
    { rateLimitPerMinute: 'many' },
    { migrate: 'perhaps' },
    { logLevel: 'loud' },
    { webhookPath: 'no path' },
    { apiKey: 'a secret' },
    { pagesize: 10 },
  ])('refuses %j', (wrong) => {
    expect(schema.safeParse({ ...example, ...wrong }).success).toBe(false)
  })
})

describe('docs/tables.md names', () => {
  it('exactly the tables that the migrations make', () => {
    const sql = readdirSync(inRepository('sql', 'migrations'))
      .map((file) => read('sql', 'migrations', file))
      .join('\n')
    const made = [...sql.matchAll(/^create table \{\{data\}\}\.(\w+)/gm)].map(([, name]) => name!)
    expect(firstCells('tables.md', 'table').sort()).toEqual(made.sort())
  })

  it('columns that every table of a resource has', () => {
    const [, shipments = ''] = read('sql', 'schema.sql').split('create table tracking.shipments (')
    const columns = firstCells('tables.md', 'column')
    expect(columns.length).toBeGreaterThan(6)
    for (const column of columns) expect(shipments.split(');')[0]).toMatch(`\n    ${column} `)
  })

  it('exactly the schemas of a warehouse', () => {
    const schemas = [...read('sql', 'schema.sql').matchAll(/^create schema (\w+)/gm)]
    expect(firstCells('tables.md', 'schema')).toEqual(
      expect.arrayContaining(schemas.map(([, name]) => name)),
    )
  })
})

describe('every document', () => {
  it('links to files and headings that exist', () => {
    const broken = DOCUMENTS.flatMap((document) =>
      linksOf(read(document))
        .filter(({ path, heading }) => {
          const target = path === '' ? document : join(dirname(document), path)
          if (!existsSync(inRepository(target))) return true
          return heading !== undefined && !headingsOf(read(target)).includes(heading)
        })
        .map(({ path, heading }) => `${document}: ${path}${heading ? `#${heading}` : ''}`),
    )
    expect(broken).toEqual([])
  })

  it('names scripts of package.json', () => {
    const unknown = DOCUMENTS.flatMap((document) =>
      [...read(document).matchAll(/npm run ([a-z:-]+)/g)]
        .filter(([, script]) => MANIFEST.scripts[script!] === undefined)
        .map(([line]) => `${document}: ${line}`),
    )
    expect(unknown).toEqual([])
  })

  it('names settings that exist', () => {
    const known = allSettings.flatMap(({ variable, isSecret }) =>
      isSecret === true ? [variable, `${variable}_FILE`] : [variable],
    )
    const unknown = OF_TODAY.flatMap((document) =>
      [...read(document).matchAll(/\bTRACKING_[A-Z_]*[A-Z]\b/g)]
        .filter(([name]) => !known.includes(name))
        .map(([name]) => `${document}: ${name}`),
    )
    expect(unknown).toEqual([])
  })

  it('names files of the repository', () => {
    const missing = OF_TODAY.flatMap((document) =>
      quoted(read(document))
        .filter((path) => /^(?:src|sql|test|docs|scripts|config|\.ci)\/[\w./-]+$/.test(path))
        .filter((path) => !existsSync(inRepository(path)) && !OF_USERS.includes(path))
        .map((path) => `${document}: ${path}`),
    )
    expect(missing).toEqual([])
  })

  it('has lines of at most 100 columns, except rows of wide tables', () => {
    const written = DOCUMENTS.filter((document) => !GENERATED.includes(document))
    const long = written.flatMap((document) =>
      read(document)
        .split('\n')
        .filter((line) => line.length > 100)
        .filter((line) => !(WIDE_TABLES.includes(document) && line.startsWith('|')))
        .map((line) => `${document}: ${line}`),
    )
    expect(long).toEqual([])
  })
})

describe('decisions', () => {
  const pages = readdirSync(inRepository('docs', 'decisions')).filter((file) => /^\d/.test(file))

  it.each(pages)('%s has the layout of all: status, context, decision, consequences', (file) => {
    const text = read('docs', 'decisions', file)
    expect(text).toMatch(
      new RegExp(
        `^# ${Number(file.slice(0, 4))}\\. \\S.*\n\n\\*\\*Status\\.\\*\\* (?:Accepted|Replaced by)\\b` +
          '[^]*\n\\*\\*Context\\.\\*\\* [^]*\n\\*\\*Decision\\.\\*\\* [^]*\n\\*\\*Consequences\\.\\*\\* ',
      ),
    )
  })

  it('are all in the index', () => {
    const linked = linksOf(read('docs', 'decisions', 'README.md')).map(({ path }) => path)
    expect(linked).toEqual(pages)
  })
})

describe('the README', () => {
  it('is one screen or three: at most 120 lines', () => {
    expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(120)
  })

  it('asks for the version of Node.js that package.json asks for', () => {
    const [, version] = /Node\.js (\d+\.\d+) or later/.exec(read('README.md'))!
    expect(MANIFEST.engines.node).toBe(`>=${version!}`)
  })

  it('leads to every other document, itself or by its index', () => {
    const linked = ['README.md', join('docs', 'README.md')].flatMap((page) =>
      linksOf(read(page)).map(({ path }) => join(dirname(page), path)),
    )
    const isDecision = (document: string): boolean => document.startsWith('docs/decisions/')
    const lost = DOCUMENTS.filter((one) => one !== 'README.md' && !isDecision(one))
    expect(lost.filter((document) => !linked.includes(document))).toEqual([])
  })
})

function linksOf(markdown: string): { path: string; heading: string | undefined }[] {
  const targets = [
    ...markdown.matchAll(/\]\((?!https?:)([^)\s]+)\)/g),
    ...markdown.matchAll(/^\[[^\]]+\]: (?!https?:)(\S+)$/gm),
  ]
  return targets.map(([, target]) => {
    const [path = '', heading] = target!.split('#')
    return { path, heading }
  })
}

/** As GitHub makes anchors of headings. */
function headingsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .trim()
      .replaceAll(/\s/g, '-'),
  )
}
