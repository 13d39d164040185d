import { once } from 'node:events'
import { access, chmod, mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { QUESTIONS } from '../../src/warehouse/questions/questions.js'
import { loadConfig } from '../../src/config/load.js'
import { settingDescriptions } from '../../src/config/settings.js'
import { EXIT_CODES, exitCodeOfSignal } from '../../src/base/exit-code.js'
import { exampleConfig, settingsTable } from '../../src/config/describe.js'
import type { Simulator } from '../../src/simulator/server.js'
import {
  isServerRunning,
  makeFreshHome,
  removeFreshHomes,
  type FreshHome,
} from '../support/fresh-home.js'
import {
  endPrograms,
  repositoryDirectory,
  runCli,
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

/** The cells of a table, by the first words of its heading. */
function tableAfter(markdown: string, heading: string): string[][] {
  const [, rest = ''] = markdown.split(`\n| ${heading} |`)
  const [table = ''] = rest.split('\n\n')
  const rows = table.split('\n').slice(2)
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

const quoted = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name!)

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
    if (/\bIn another:$/.test(intro)) this.#environment = {}
    for (const line of lines) await this.#do(line)
  }

  async #do(line: string): Promise<void> {
    const script = /^npm (?:ci && npm )?(?:run )?([a-z:]+)$/.exec(line)?.[1]
    const [, name, value] = /^export ([A-Z_]+)=(\S*)$/.exec(line) ?? []
    if (line.startsWith('npm install --global ')) return
    if (script !== undefined) await this.#runScript(line, script)
    else if (name !== undefined) this.#environment[name] = this.#replace(value!)
    else if (line === 'tracking-sync simulate') await this.#startSimulator(line)
    else if (line === 'tracking-sync serve') await this.#serve(line)
    else if (line.startsWith('tracking-sync ')) await this.#run(line, ours(line))
    else throw new Error(`The README has a command that this test cannot run: ${line}`)
  }

  /** Building and installing were done before the tests; scripts/fresh-clone.sh and package.test.ts do it for real. */
  async #runScript(line: string, script: string): Promise<void> {
    const command = this.#scripts[script]
    if (command === undefined) throw new Error(`package.json has no script for: ${line}`)
    const last = command.split(' && ').at(-1)!
    if (last.startsWith(`node ${COMMAND} `)) {
      await this.#run(line, last.replace(`node ${COMMAND}`, OURS))
    } else expect(last).toMatch(/^(?:npm pack --silent$|vitest run)/)
  }

  async #run(line: string, command: string): Promise<void> {
    const result = await startProgram('sh', ['-c', command], this.#options(line)).ended
    this.outputs.push({ line, result })
    if (result.exitCode !== 0) throw new Error(`${line} ended with ${JSON.stringify(result)}`)
  }

  async #startSimulator(line: string): Promise<void> {
    const command = `${ours(line)}${(await isFree(4949)) ? '' : ' --port 0'}`
    this.simulate = startProgram('sh', ['-c', `exec ${command}`], this.#options(line))
    await this.simulate.waitFor(({ stdout }) => stdout().includes('Ctrl-C ends it.'))
  }

  async #serve(line: string): Promise<void> {
    const command = `${ours(line)}${(await isFree(8080)) ? '' : ' --port 0'}`
    const serving = startProgram('sh', ['-c', `exec ${command}`], this.#options(line))
    await serving.waitFor(({ stdout }) => stdout().includes('serving at'))
    serving.kill('SIGTERM')
    const result = await serving.ended
    this.outputs.push({ line, result })
    expect(result).toMatchObject({ exitCode: 0 })
  }

  #replace(value: string): string {
    if (AS_THEY_STAND.includes(value)) return value
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

/** Not to be replaced by what the test has: nothing is asked there. */
const AS_THEY_STAND = ['at-least-16-characters', 'https://hooks.example/webhooks']

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

describe('the README, followed line by line', () => {
  const closers: (() => Promise<void>)[] = []
  let readme: string
  let home: FreshHome
  let simulator: Simulator
  let database: TestDatabase
  let user: NewUser

  beforeAll(async () => {
    readme = await readText('README.md')
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
    for (const block of blocksOf(readme)) {
      if (block.language === 'sh') await user.follow(block)
      else expect(['crontab']).toContain(block.language)
    }
  }, 300_000)

  afterAll(async () => {
    await endPrograms()
    for (const close of closers) await close()
    await removeFreshHomes()
  })

  const outputOf = (line: string, nth = 0): string => {
    const found = user.outputs.filter((output) => output.line === `tracking-sync ${line}`)[nth]
    if (found === undefined) throw new Error(`the README no longer has: ${line}`)
    return found.result.stdout
  }

  it('shows the demo', () => {
    const { result } = user.outputs.find(({ line }) => line === 'npm ci && npm run demo')!
    expect(result.stdout).toContain('Three questions to the warehouse')
    expect(result.stdout).toContain('What to try next.')
  })

  it('checks, fills and shows a warehouse of one’s own', () => {
    expect(outputOf('check').match(/^ok /gm)).toHaveLength(5)
    expect(outputOf('backfill')).toMatch(
      /\nbackfill complete: \d{3,} rows written, \d+ requests\.\n$/,
    )
    expect(outputOf('status')).toMatch(/^shipments +12 +0 .* complete$/m)
  })

  it('plays the service without an account, on the port it names', async () => {
    expect(outputOf('backfill', 1)).toMatch(/^shipments +300 +300 .* complete$/m)
    expect(outputOf('sync')).toMatch(/^shipments +\d+ +0 .* complete$/m)
    const address = /TRACKING_API_URL=(\S+)/.exec(user.simulate!.stdout())![1]!
    const [curl] = /curl http:\S+?\/simulator/.exec(readme)!
    const url = curl.replace('curl ', '').replace('http://127.0.0.1:4949', new URL(address).origin)
    const state = (await (await fetch(url)).json()) as { counts: Record<string, number> }
    expect(state.counts.shipment).toBe(300)
  })

  it('tells the service where to send, and serves until it is told to stop', () => {
    expect(outputOf('webhooks create')).toContain('https://hooks.example/webhooks')
    expect(outputOf('serve')).toMatch(
      /^serving at http:\/\/127\.0\.0\.1:\d+, webhooks at \/webhooks$/m,
    )
    for (const { result } of user.outputs) {
      expect(result.stdout + result.stderr).not.toContain('at-least-16-characters')
    }
  })

  it('answers questions with rows', () => {
    expect(outputOf('query')).toMatch(
      /^pickup_worklist +Which container must be picked up first  /m,
    )
    expect(outputOf('query pickup_worklist')).toMatch(/\n[A-Z]{4}\d{7} .*\n\(\d+ rows\)\n$/s)
    expect(outputOf('query demurrage_exposure --format csv')).toMatch(
      /^container_number,.*\r\n[A-Z]{4}\d{7},/,
    )
    expect(outputOf('query arrivals_calendar --explain')).toMatch(
      /^What arrives where.*\n[\s\S]*\nteu  [\s\S]*\bselect\b/,
    )
    const sql = user.outputs.find(({ line }) => line.includes('query "select'))!
    const rows = sql.result.stdout.split('\n').slice(2, -2)
    const counts = rows.map((row) => Number(/ (\d+)$/.exec(row)?.[1]))
    expect(counts.length).toBeGreaterThan(3)
    expect(counts).toEqual([...counts].sort((one, two) => two - one))
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(500)
  })

  it('starts the embedded database, tells its address and stops it', async () => {
    expect(outputOf('database start')).toContain('The embedded database runs on 127.0.0.1:')
    expect(outputOf('database url')).toMatch(
      /^postgres:\/\/\w+:[^@\s]+@127\.0\.0\.1:\d+\/tracking\n$/,
    )
    expect(outputOf('database stop')).toBe('The embedded database is stopped.\n')
    expect(await isServerRunning(home)).toBe(false)
  })

  it('opens psql where that is installed', async () => {
    expect(readme).toContain('`tracking-sync database psql`')
    const bin = join(home.directory, 'bin')
    await mkdir(bin)
    await writeFile(join(bin, 'psql'), '#!/bin/sh\necho "psql on $PGDATABASE"\n')
    await chmod(join(bin, 'psql'), 0o755)
    const env = { PATH: `${bin}${delimiter}${process.env.PATH ?? ''}` }
    const psql = await runCli(['database', 'psql'], { directory: home.directory, env })
    expect(psql).toMatchObject({ exitCode: 0, stdout: 'psql on tracking\n' })
  })

  it('runs from cron as its crontab line has it, with the settings in .env', async () => {
    const { lines } = blocksOf(readme).find(({ language }) => language === 'crontab')!
    const line = lines.at(-1)
    const [, schedule, command] = /^((?:\S+ ){5})(.*)$/.exec(line!)!
    expect(schedule).toBe('*/15 * * * * ')
    const { directory } = await makeFreshHome()
    const log = join(directory, 'tracking-sync.log')
    const own = ours(command!)
      .replace('/etc/tracking-sync', directory)
      .replace('/var/log/tracking-sync.log', log)
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
    expect(readme.match(/tracking-sync-[\d.]+tgz/g)).toEqual([`tracking-sync-${version}.tgz`])
  })
})

describe('what the documents list', () => {
  it('are the settings of the program, in the README and in the example file', async () => {
    const [, table] = /<!-- settings -->\n([\s\S]*)\n<!-- \/settings -->/.exec(
      await readText('README.md'),
    )!
    expect(table).toBe(settingsTable())
    expect(await readText('config', 'tracking-sync.example.json')).toBe(exampleConfig())
  })

  it('is an example file that is a valid configuration of all defaults', () => {
    const sources = { environment: {}, workingDirectory: inRepository('test', 'e2e') }
    const example = inRepository('config', 'tracking-sync.example.json')
    const { config, origins } = loadConfig({ ...sources, configFile: example })
    expect(config).toEqual(loadConfig(sources).config)
    const inFile = settingDescriptions.filter(
      ({ isSecret, defaultValue }) => isSecret !== true && defaultValue !== undefined,
    )
    for (const { name } of inFile)
      expect({ name, from: origins[name] }).toEqual({ name, from: 'file' })
  })

  it('are all exit codes', async () => {
    const codes = tableAfter(await readText('README.md'), 'code').flatMap(([cell]) =>
      cell!.split(', ').map(Number),
    )
    const signals = (['SIGHUP', 'SIGINT', 'SIGTERM'] as const).map(exitCodeOfSignal)
    expect(codes).toEqual([...Object.values(EXIT_CODES), ...signals])
  })

  it('are exactly the commands of --help', async () => {
    const { directory } = await makeFreshHome()
    const commandsOf = async (...args: string[]): Promise<string[]> => {
      const { stdout } = await runCli([...args, '--help'], { directory })
      const [, commands = ''] = stdout.split('\nCommands:\n')
      const names = [...commands.split('\n\n')[0]!.matchAll(/^ {2}([\w-]+)/gm)].map(
        ([, name]) => name!,
      )
      return names.filter((name) => name !== 'help')
    }
    const listed = tableAfter(await readText('README.md'), 'command').map(
      ([cell]) => quoted(cell!)[0]!,
    )
    const names = listed.map((name) => name.split(' ')[0])
    expect(names).toEqual(expect.arrayContaining(await commandsOf()))
    expect(names).toHaveLength((await commandsOf()).length)
    const database = listed.find((name) => name.startsWith('database '))!
    expect(database.split(' ')[1]!.split('/').sort()).toEqual((await commandsOf('database')).sort())
    await removeFreshHomes()
  })

  it('are exactly the tables that the migrations make', async () => {
    const files = (await readdir(inRepository('sql', 'migrations'))).sort()
    const sql = await Promise.all(files.map((file) => readText('sql', 'migrations', file)))
    const made = [...sql.join('\n').matchAll(/^create table \{\{data\}\}\.(\w+)/gm)].map(
      ([, name]) => name!,
    )
    const listed = tableAfter(await readText('README.md'), 'table').flatMap(([cell]) =>
      quoted(cell!),
    )
    expect(listed.sort()).toEqual(made.sort())
  })

  it('are columns that every table of a resource has', async () => {
    const listed = tableAfter(await readText('README.md'), 'column').flatMap(([cell]) =>
      quoted(cell!),
    )
    const sql = await readText('sql', 'schema.sql')
    const [, shipments = ''] = sql.split('create table tracking.shipments (')
    for (const column of listed) expect(shipments.split(');')[0]).toMatch(`\n    ${column} `)
  })

  it('are shipped questions that exist', async () => {
    const shipped = Object.keys(QUESTIONS)
    const asked = [...(await readText('README.md')).matchAll(/tracking-sync query (\w+)/g)]
    expect(asked.length).toBeGreaterThan(0)
    for (const [, name] of asked) expect(shipped).toContain(name)
  })

  it('are links to files that exist, and scripts and paths that exist', async () => {
    const scripts = await readScripts()
    const documents = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md']
    for (const file of await readdir(inRepository('docs'), { recursive: true })) {
      if (file.endsWith('.md')) documents.push(join('docs', file))
    }
    for (const document of documents) {
      const text = await readText(document)
      for (const [, target] of text.matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)) {
        await access(inRepository(dirname(document), target!)).catch(() => {
          throw new Error(`${document} links to ${target!}, which does not exist`)
        })
      }
      for (const [, script] of text.matchAll(/npm run ([a-z:-]+)/g)) {
        expect({ document, script, isThere: scripts[script!] !== undefined }).toEqual({
          document,
          script,
          isThere: true,
        })
      }
    }
    const paths = quoted(await readText('CONTRIBUTING.md')).filter((path) =>
      /^(?:src|sql|test|docs|scripts|\.ci)\//.test(path),
    )
    for (const path of paths) await access(inRepository(path))
  })

  it('is the version of Node.js that package.json asks for', async () => {
    const { engines } = JSON.parse(await readText('package.json')) as { engines: { node: string } }
    const [, version] = /Node\.js (\d+\.\d+) or later/.exec(await readText('README.md'))!
    expect(engines.node).toBe(`>=${version!}`)
  })
})
