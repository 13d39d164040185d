import { once } from 'node:events'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Simulator } from '../../src/extensions/simulator/server.js'
import {
  isServerRunning,
  makeFreshHome,
  removeFreshHomes,
  type FreshHome,
} from '../support/fresh-home.js'
import {
  endPrograms,
  repositoryDirectory,
  startProgram,
  type ProgramResult,
  type RunningProgram,
} from '../support/run-cli.js'
import { startSameWorld } from '../support/simulate-cli.js'
import { createTestDatabase, type TestDatabase } from '../support/test-database.js'

interface Block {
  /** The text before it. */
  readonly intro: string
  readonly language: string
  readonly lines: readonly string[]
}

const inRepository = (...path: string[]): string => join(repositoryDirectory, ...path)
const readText = (...path: string[]): Promise<string> => readFile(inRepository(...path), 'utf8')

async function readScripts(): Promise<Readonly<Record<string, string>>> {
  return (JSON.parse(await readText('package.json')) as { scripts: Record<string, string> }).scripts
}

function blocksOf(markdown: string): Block[] {
  return [...markdown.matchAll(/([^\n]*)\n+```(\w+)\n([\s\S]*?)\n```/g)].map(
    ([, intro = '', language = '', text = '']) => ({ intro, language, lines: text.split('\n') }),
  )
}

/** One new user who does what the README says, line by line. */
class NewUser {
  readonly outputs: { readonly line: string; readonly result: ProgramResult }[] = []
  readonly #home: FreshHome
  readonly #replacements: readonly (readonly [string, string])[]
  readonly #scripts: Readonly<Record<string, string>>
  #environment: Record<string, string> = {}
  simulate: RunningProgram | undefined

  constructor(
    home: FreshHome,
    replacements: readonly (readonly [string, string])[],
    scripts: Readonly<Record<string, string>>,
  ) {
    this.#home = home
    this.#replacements = replacements
    this.#scripts = scripts
  }

  async follow({ intro, lines }: Block): Promise<void> {
    if (/\bIn another:$/.test(intro)) {
      this.#environment = {}
      await rm(join(this.#home.directory, '.env'), { force: true })
    }
    for (const line of lines) await this.#do(line)
  }

  async #do(line: string): Promise<void> {
    const script = /^npm (?:ci && npm )?(?:run )?([a-z:]+)$/.exec(line)?.[1]
    const [, name, value] = /^export ([A-Z_]+)=(\S*)$/.exec(line) ?? []
    if (line.startsWith('npm install --global ')) return
    // Two pages show it; a second webhook for one address is refused.
    if (line.startsWith('tracking-sync webhooks create') && this.#hasRun(line)) return
    if (script !== undefined) await this.#runScript(line, script)
    else if (name !== undefined) this.#environment[name] = this.#replace(value!)
    else if (line === 'tracking-sync simulate') await this.#startSimulator(line)
    else if (line === 'tracking-sync serve') await this.#serve(line)
    else if (line.startsWith('tracking-sync ')) await this.#run(line, ours(line))
    else throw new Error(`This test cannot run a command of the documents: ${line}`)
    // From now on the answers are only in `.env`.
    if (line.startsWith('tracking-sync init')) this.#environment = {}
  }

  #hasRun(line: string): boolean {
    return this.outputs.some((output) => output.line === line)
  }

  /**
   * Building and installing were done before the tests; scripts/fresh-clone.sh and package.test.ts
   * do it for real.
   */
  async #runScript(line: string, script: string): Promise<void> {
    const command = this.#scripts[script]
    if (command === undefined) throw new Error(`package.json has no script for: ${line}`)
    const last = command.split(' && ').at(-1)!
    if (last.startsWith(`node ${COMMAND} `)) {
      await this.#run(line, last.replace(`node ${COMMAND}`, OURS))
    } else expect(last).toMatch(/^(?:node scripts\/make-package\.js$|vitest run)/)
  }

  async #run(line: string, command: string): Promise<void> {
    const result = await startProgram('sh', ['-c', command], this.#options(line)).ended
    this.outputs.push({ line, result })
    const isDone = result.exitCode === 0
    if (!isDone) throw new Error(`${line} ended with ${JSON.stringify(result)}`)
  }

  async #startSimulator(line: string): Promise<void> {
    const command = `${ours(line)}${(await isFree(4949)) ? '' : ' --port 0'}`
    this.simulate = startProgram('sh', ['-c', `exec ${command}`], this.#options(line))
    await this.simulate.waitFor(({ stdout }) => stdout().includes('Ctrl-C ends it.'))
  }

  async #serve(line: string): Promise<void> {
    const free = await Promise.all([isFree(8080), isFree(8081)])
    const flags = [' --port 0', ' --pages-port 0'].filter((_, at) => !free[at])
    const command = `${ours(line)}${flags.join('')}`
    const serving = startProgram('sh', ['-c', `exec ${command}`], this.#options(line))
    await serving.waitFor(({ stdout }) => stdout().includes('serving at'))
    serving.kill('SIGTERM')
    const result = await serving.ended
    this.outputs.push({ line, result })
    expect(result).toMatchObject({ exitCode: 0 })
  }

  #replace(value: string): string {
    const address = /TRACKING_API_URL=(\S+)/.exec(this.simulate?.stdout() ?? '')?.[1]
    if (value === 'http://127.0.0.1:4949/v2') return address ?? value
    for (const [placeholder, own] of this.#replacements) if (value === placeholder) return own
    expect(value).toBe('simulator-key')
    return value
  }

  #options(line: string) {
    return {
      directory: this.#home.directory,
      env: this.#environment,
      isPrintingPassword: line.endsWith(' database url'),
      deadlineMs: 120_000,
    }
  }
}

/** To the questions of `init`, which are asked at a terminal only. */
const ANSWERS = [
  'export TRACKING_API_URL=https://api.tracking.example/v2',
  'export TRACKING_API_KEY=your-key',
  'export DATABASE_URL=postgres://user:password@db.example:5432/warehouse?sslmode=verify-full',
]

const COMMAND = 'bin/tracking-sync.cjs'
const OURS = `"${process.execPath}" "${inRepository(COMMAND)}"`
const ours = (line: string): string => line.replace(/(?<![/\w])tracking-sync(?= )/, OURS)

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    server.close()
    await once(server, 'close')
    return true
  } catch {
    return false
  }
}

/** In the order in which their lines are followed; the simulator's begins without an account. */
const DOCUMENTS = ['README', 'operating', 'webhooks', 'simulator', 'bi'] as const

const readDocument = (name: (typeof DOCUMENTS)[number]): Promise<string> =>
  name === 'README' ? readText('README.md') : readText('docs', `${name}.md`)

/** A line of a table without its widths, which depend on the rows. */
const words = (line: string): string => line.replaceAll(/-{2,}|\s+/g, ' ').trim()

describe('the README and its pages, followed line by line', () => {
  const closers: (() => Promise<void>)[] = []
  let home: FreshHome
  let simulator: Simulator
  let database: TestDatabase
  let user: NewUser
  let newcomer: NewUser

  beforeAll(async () => {
    home = await makeFreshHome()
    simulator = await startSameWorld({ apiKey: 'your-key' })
    closers.push(() => simulator.close())
    database = await createTestDatabase()
    closers.push(() => database.drop())
    user = new NewUser(
      home,
      [
        ['https://api.tracking.example/v2', simulator.url],
        ['your-key', simulator.apiKey],
        ['postgres://user:password@db.example:5432/warehouse?sslmode=verify-full', database.url],
      ],
      await readScripts(),
    )
    await followTerminal49()
    await user.follow({ intro: '', language: 'sh', lines: ANSWERS })
    for (const name of DOCUMENTS) {
      for (const block of blocksOf(await readDocument(name))) {
        if (block.language === 'sh') await user.follow(block)
        else expect(['bash', 'crontab', 'mermaid', 'sql', 'text']).toContain(block.language)
      }
    }
  }, 300_000)

  afterAll(async () => {
    await endPrograms()
    for (const close of closers) await close()
    await removeFreshHomes()
  })

  /** In a directory of its own, because it writes `.env`, against a service that makes secrets. */
  async function followTerminal49(): Promise<void> {
    const service = await startSameWorld({ apiKey: 'your-key', makesSecrets: true })
    closers.push(() => service.close())
    newcomer = new NewUser(
      await makeFreshHome(),
      [
        ['https://api.tracking.example/v2', service.url],
        ['your-key', service.apiKey],
        ['postgres://user:password@db.example:5432/warehouse?sslmode=verify-full', database.url],
      ],
      await readScripts(),
    )
    await newcomer.follow({ intro: '', language: 'sh', lines: ANSWERS })
    for (const block of blocksOf(await readText('docs', 'terminal49.md'))) {
      if (block.language === 'sh') await newcomer.follow(block)
    }
  }

  it('leads a newcomer with Terminal49 from an account to answers', () => {
    const output = (line: string) =>
      newcomer.outputs.find((entry) => entry.line === `tracking-sync ${line}`)!.result
    expect(output('init --service terminal49').stdout).toContain('(preset terminal49)')
    expect(output('check').stdout).toContain(
      'preset terminal49 (.env), overridden by TRACKING_API_URL (.env)',
    )
    expect(output('backfill').stdout).toMatch(/\nbackfill complete: [1-9]\d* rows written/)
    const created = output('webhooks create --url https://hooks.example/webhooks --write').stdout
    expect(created).toContain('TRACKING_WEBHOOK_SECRET now')
    expect(output('query pickups').stdout).toMatch(/\(\d+ rows\)\n$/)
  })

  const outputOf = (line: string, nth = 0): string => {
    const found = user.outputs.filter((output) => output.line === `tracking-sync ${line}`)[nth]
    if (found === undefined) throw new Error(`no document has: ${line}`)
    return found.result.stdout
  }

  it('shows the demo', () => {
    const { result } = user.outputs.find(({ line }) => line === 'npm ci && npm run demo')!
    expect(result.stdout).toContain('Three questions to the warehouse')
    const [, hints = ''] = result.stdout.split('What to try next:')
    expect(hints).toContain('\n    npx tracking-sync query pickups --schema tracking_demo\n')
    expect(hints).toMatch(/\n {4}npm run package\n.*\n {4}tracking-sync init\n$/)
  })

  it('prints the headings that the README shows', async () => {
    const printed = user.outputs.flatMap(({ result }) => result.stdout.split('\n').map(words))
    const shown = blocksOf(await readDocument('README'))
      .filter(({ language }) => language === 'text')
      .flatMap(({ lines }) => lines.map(words))
      .filter((line) => line !== '' && !/\d/.test(line))
    expect(shown.length).toBeGreaterThan(4)
    expect(printed).toEqual(expect.arrayContaining(shown))
  })

  it('checks, fills, shows and verifies a warehouse of one’s own', () => {
    for (const nth of [0, 1]) {
      // The second comes after the webhook, which it looks at as well.
      expect(outputOf('check', nth).match(/^ok /gm)).toHaveLength(6 + nth)
      expect(outputOf('backfill', nth)).toMatch(/\nbackfill complete: \d+ rows written, \d+ req/)
    }
    expect(outputOf('status')).toMatch(/^shipments +12 +0 .* complete$/m)
    expect(outputOf('sync')).toMatch(/\nsync complete: 0 rows written, \d+ requests\.\n$/)
    expect(outputOf('verify --sample 3')).toMatch(/no differences|equal/i)
  })

  it('answers questions with rows', () => {
    const [attention, statuses] = user.outputs.filter(({ line }) => line.includes(' query '))
    expect(attention!.result.stdout).toMatch(/\noverdue +[A-Z]{4}\d{7} .*\n\(\d+ rows\)\n$/s)
    const rows = statuses!.result.stdout.split('\n').slice(2, -2)
    const counts = rows.map((row) => Number(/ (\d+)$/.exec(row)?.[1]))
    expect(counts.length).toBeGreaterThan(1)
    expect(counts).toEqual([...counts].sort((one, two) => two - one))
  })

  it('tells the service where to send, and serves until it is told to stop', () => {
    expect(outputOf('webhooks create --url https://hooks.example/webhooks --write')).toContain(
      'https://hooks.example/webhooks',
    )
    expect(outputOf('serve')).toMatch(
      /^serving at http:\/\/127\.0\.0\.1:\d+, webhooks at \/webhooks, pages at http:\/\/127\.0\.0\.1:\d+$/m,
    )
    for (const { result } of user.outputs) {
      expect(result.stdout + result.stderr).not.toContain('at-least-16-characters')
    }
  })

  it('plays the service without an account, on the port it names', async () => {
    expect(outputOf('backfill', 2)).toMatch(/^shipments +300 +300 .* complete$/m)
    expect(outputOf('sync', 1)).toMatch(/^shipments +\d+ +0 .* complete$/m)
    const address = /TRACKING_API_URL=(\S+)/.exec(user.simulate!.stdout())![1]!
    const [curl] = /curl http:\S+?\/simulator/.exec(await readDocument('simulator'))!
    const url = curl.replace('curl ', '').replace('http://127.0.0.1:4949', new URL(address).origin)
    const state = (await (await fetch(url)).json()) as { counts: Record<string, number> }
    expect(state.counts.shipment).toBe(300)
  })

  it('starts the embedded database, tells its address and stops it', async () => {
    expect(outputOf('database start')).toContain('The embedded database runs on 127.0.0.1:')
    expect(outputOf('database url')).toMatch(
      /^postgres:\/\/\w+:[^@\s]+@127\.0\.0\.1:\d+\/tracking\n$/,
    )
    expect(outputOf('database stop')).toBe('The embedded database is stopped.\n')
    expect(await isServerRunning(home)).toBe(false)
  })

  it('runs from cron by its crontab line, with .env', { tags: ['release'] }, async () => {
    const { lines } = blocksOf(await readDocument('operating')).find(
      ({ language }) => language === 'crontab',
    )!
    const line = lines.at(-1)
    const [, schedule, command] = /^((?:\S+ ){5})(.*)$/.exec(line!)!
    expect(schedule).toBe('*/15 * * * * ')
    const { directory } = await makeFreshHome()
    const log = join(directory, 'sync.log')
    const own = ours(command!).replace('/var/lib/tracking-sync', directory)
    expect(own).not.toMatch(/\/etc|\/var/)
    await writeFile(
      join(directory, '.env'),
      `TRACKING_API_URL=${simulator.url}\nTRACKING_API_KEY=your-key\nDATABASE_URL=${database.url}\n`,
    )
    for (const times of [1, 2]) {
      const cron = await startProgram('sh', ['-c', own], { directory: dirname(directory) }).ended
      expect(cron).toMatchObject({ exitCode: 0, stdout: '', stderr: '' })
      const text = await readFile(log, 'utf8')
      expect(text.match(/^sync complete: 0 rows written, \d+ requests\.$/gm)).toHaveLength(times)
      expect(text).not.toContain('your-key')
    }
  })

  it('names the package of this version', async () => {
    const { version } = JSON.parse(await readText('package.json')) as { version: string }
    for (const name of ['README', 'operating'] as const) {
      const named = (await readDocument(name)).match(/tracking-sync-[\d.]+tgz/g)
      expect(named).toEqual([`tracking-sync-${version}.tgz`])
    }
  })
})
