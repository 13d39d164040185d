import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Simulator } from '../../src/extensions/simulator/server.js'
import { callProgram, settingsOf, wordsOf } from '../support/call-cli.js'
import {
  isServerRunning,
  makePreparedHome,
  removeFreshHomes,
  type FreshHome,
} from '../support/fresh-home.js'
import { selectRows } from '../support/look-at-cli-rows.js'
import { endPrograms, repositoryDirectory, startCli } from '../support/run-cli.js'
import { startSameWorld } from '../support/simulate-cli.js'
import { createTestDatabase, type TestDatabase } from '../support/test-database.js'

/** Lines that other tests run: package.test.ts installs, and the directory is that of the test. */
const ELSEWHERE = /^(?:npm (?:ci$|ci && npm test$|run package$|install --global )|mkdir |cd |PATH=)/

/** Blocks that are not for the shell, or that backup.test.ts runs. */
const NOT_FOLLOWED = ['bash', 'mermaid', 'sql']

/** Headings of tables: of all that a page prints, they are equal in every account. */
const HEADING = /^(\S.*)\n(?:-+ *)+$/gm

/** As the simulated service is. */
const UNHURRIED = { TRACKING_RATE_LIMIT_PER_MINUTE: '100000' }

const words = (line: string): string => line.replaceAll(/\s+/g, ' ').trim()

/** One new user in an empty directory, with answers to the questions of `init`. */
let home: FreshHome
let simulator: Simulator
let database: TestDatabase
let answers: Record<string, string>
/** By `export`. */
let exported: Record<string, string>
let simulate: { readonly stdout: () => string } | undefined
let said: Map<string, string[]>
let box: { readonly number: string }

async function begin(options: Parameters<typeof startSameWorld>[0] = {}): Promise<void> {
  simulator = await startSameWorld({ apiKey: 'your-key', ...options })
  answers = settingsOf(simulator, database.url)
}

beforeEach(async () => {
  home = await makePreparedHome()
  database = await createTestDatabase()
  exported = {}
  said = new Map()
  box = { number: '' }
})

afterEach(async () => {
  await endPrograms()
  await simulator.close()
  await database.drop()
})

afterAll(removeFreshHomes)

async function run(line: string): Promise<void> {
  const [, ...args] = wordsOf(line).map((word) =>
    word
      .replace('MSCU1234567', box.number)
      .replace(/^[\w-]+\.csv$/, (name) => join(home.directory, name)),
  )
  const output = await callProgram(args, {
    directory: home.directory,
    // Later commands read in `.env` what `init` was answered.
    env: args[0] === 'init' ? answers : { ...UNHURRIED, ...exported },
    isPrintingPassword: line.endsWith(' database url'),
  })
  expect({ line, ...output }).toMatchObject({ line, exitCode: 0 })
  note(line, `${output.stdout}\n${output.stderr}`)
}

function note(line: string, text: string): void {
  said.set(line, [...(said.get(line) ?? []), text])
}

/** In a process of its own, which stays until the end of the test or is told to end. */
async function start(command: 'simulate' | 'serve'): Promise<void> {
  const flags = command === 'serve' ? ['--pages-port', '0'] : ['--requests-per-minute', '0']
  const program = await startCli([command, '--port', '0', ...flags], {
    directory: home.directory,
    env: exported,
  })
  await program.waitFor(({ stdout }) => /Ctrl-C ends it|serving at/.test(stdout()))
  if (command === 'simulate') simulate = program
  else {
    program.kill('SIGTERM')
    expect(await program.ended).toMatchObject({ exitCode: 0, signal: null })
    note('tracking-sync serve', program.stdout())
  }
}

async function followLine(line: string): Promise<void> {
  const [, name, value = ''] = /^export (\w+)=(\S+)$/.exec(line) ?? []
  const address = /TRACKING_API_URL=(\S+)/.exec(simulate?.stdout() ?? '')?.[1]
  const program = /(?:^|&& )(tracking-sync [^>]*[^\s>])(?: >> .*)?$/.exec(line)?.[1]
  if (name !== undefined) exported[name] = value.replace('http://127.0.0.1:4949/v2', address ?? '')
  else if (line === 'npm ci && npm run demo') await run('tracking-sync demo')
  else if (program === 'tracking-sync simulate') await start('simulate')
  else if (program === 'tracking-sync serve') await start('serve')
  else if (program === undefined) expect(line).toMatch(ELSEWHERE)
  // Two pages show it; a second webhook for one address is refused.
  else if (!(program.includes('webhooks create') && said.has(program))) await run(program)
  if (box.number === '') await learnBox()
}

/** The number of commands that were run, and of headings that they printed as the page does. */
async function follow(page: string): Promise<{ commands: number; headings: number }> {
  const text = await readFile(join(repositoryDirectory, page), 'utf8')
  const before = [...said.values()].flat().length
  let headings = 0
  for (const [, intro = '', language = '', block = ''] of text.matchAll(
    /([^\n]*)\n+```(\w+)\n([\s\S]*?)\n```/g,
  )) {
    if (/\bIn another:$/.test(intro)) await rm(join(home.directory, '.env'), { force: true })
    if (NOT_FOLLOWED.includes(language)) continue
    if (language === 'csv') {
      const [, name = ''] = /`([\w-]+\.csv)`/.exec(text.slice(0, text.indexOf(block))) ?? []
      await writeFile(join(home.directory, name), `${block}\n`)
    } else if (language === 'text') {
      const printed = [...[...said.values()].flat().join('\n').matchAll(HEADING)]
      for (const [, heading = ''] of block.matchAll(HEADING)) {
        // A page may leave the last columns away.
        const isPrinted = printed.some(([, line]) =>
          `${words(line!)} `.startsWith(`${words(heading)} `),
        )
        expect({ intro, heading, isPrinted }).toMatchObject({ isPrinted: true })
        headings += 1
      }
    } else {
      expect(['sh', 'crontab']).toContain(language)
      for (const line of block.split('\n')) await followLine(line)
    }
  }
  return { commands: [...said.values()].flat().length - before, headings }
}

async function learnBox(): Promise<void> {
  const found = await selectRows<typeof box>(
    database.url,
    `select number from tracking.containers
    where pod_discharged_at is not null order by container_id limit 1`,
  ).catch(() => [])
  box = found[0] ?? box
}

const outputOf = (line: string, nth = 0): string => said.get(`tracking-sync ${line}`)![nth]!

describe('pages for new users, followed line by line', () => {
  it('the README and those of operation lead to a warehouse of one’s own', async () => {
    await begin()
    expect(await follow('README.md')).toEqual({ commands: 9, headings: 3 })
    const [, hints = ''] = outputOf('demo').split('What to try next:')
    expect(hints).toContain('\n    npx tracking-sync query pickups --schema tracking_demo\n')
    expect(outputOf('check').match(/^ok /gm)).toHaveLength(6)
    const statuses = outputOf(
      'query "select current_status, count(*) from containers group by 1 order by 2 desc"',
    )
    const counts = [...statuses.matchAll(/^\w+ +(\d+)$/gm)].map(([, count]) => Number(count))
    expect(counts.length).toBeGreaterThan(1)
    expect(counts).toEqual(counts.toSorted((one, two) => two - one))
    expect(outputOf('serve')).toMatch(
      /^serving at http:\/\/127\.0\.0\.1:\d+, webhooks at \/webhooks, pages at http:\/\/127\.0\.0\.1:\d+$/m,
    )

    expect(await follow('docs/operating.md')).toEqual({ commands: 7, headings: 0 })
    expect(outputOf('backfill', 1)).toMatch(/\nbackfill complete: \d+ rows written, \d+ requests/)
    expect(outputOf('status')).toMatch(/^shipments +12 +0 .* complete$/m)
    expect(outputOf('sync')).toMatch(/\nsync complete: 0 rows written, \d+ requests\.\n/)
    expect(outputOf('verify --sample 3')).toMatch(/no differences|equal/i)
    expect(await follow('docs/webhooks.md')).toEqual({ commands: 1, headings: 0 })

    expect(await follow('docs/simulator.md')).toEqual({ commands: 2, headings: 0 })
    expect(outputOf('backfill', 2)).toMatch(/^shipments +300 +300 .* complete$/m)
    expect(await follow('docs/bi.md')).toEqual({ commands: 4, headings: 0 })
    expect(outputOf('database url')).toMatch(/^postgres:\/\/\w+:[^@\s]+@127\.0\.0\.1:\d+\/track/)
    expect(outputOf('database stop')).toContain('The embedded database is stopped.\n')
    expect(await isServerRunning(home)).toBe(false)
  })

  it('that of Terminal49 leads from an account to answers', async () => {
    await begin({ makesSecrets: true })
    expect(await follow('docs/terminal49.md')).toEqual({ commands: 7, headings: 0 })
    expect(outputOf('init --service terminal49')).toContain('(preset terminal49)')
    expect(outputOf('check')).toContain(
      'preset terminal49 (.env), overridden by TRACKING_API_URL (.env)',
    )
    expect(outputOf('webhooks create --url https://hooks.example/webhooks --write')).toContain(
      'TRACKING_WEBHOOK_SECRET now',
    )
    expect(outputOf('query pickups')).toMatch(/\(\d+ rows\)\n/)
  })

  it('the tutorial leads from a key to a list, and troubleshooting goes on from there', async () => {
    await begin({ shipments: 40, startAt: new Date() })
    expect(await follow('docs/tutorial.md')).toEqual({ commands: 13, headings: 3 })
    const files = ['monday.xlsx', 'last-free-days.ics'].map((name) => join(home.directory, name))
    const [workbook, calendar] = await Promise.all(files.map((file) => readFile(file)))
    expect(workbook!.subarray(0, 2).toString()).toBe('PK')
    expect(calendar!.toString().split('BEGIN:VEVENT').length).toBeGreaterThan(2)
    expect(calendar!.toString()).toContain('https://app.terminal49.com/shipments/find?q=')
    expect(await follow('docs/troubleshooting.md')).toEqual({ commands: 16, headings: 2 })
  })
})
