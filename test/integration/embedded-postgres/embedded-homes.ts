import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { access, chmod, mkdtemp, readFile, rm, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import {
  embeddedDatabaseStatus,
  stopEmbeddedDatabase,
} from '../../../src/extensions/embedded-postgres/embedded-database.js'
import { silentLogger } from '../../../src/base/logger.js'
import { prepareHome } from '../../support/prepared-home.js'

/** The report of a started child. */
interface ChildDatabase {
  readonly url: string
  readonly port: number
  readonly isAdopted: boolean
  readonly dataDirectory: string
  readonly warnings: readonly string[]
}

export interface ChildOptions {
  readonly homeDirectory: string
  readonly packageName?: string
  readonly keepRunning?: boolean
  readonly port?: number
  readonly databaseName?: string
  readonly distDirectory?: string
  /** Run as this account; only root can. */
  readonly uid?: number
  readonly env?: Readonly<Record<string, string>>
}

export interface Child {
  readonly process: ChildProcess
  /** Rejects with the child's own message when the start failed. */
  readonly ready: Promise<ChildDatabase>
  /** Ends its input, as a command that has done its work. */
  stop(): Promise<void>
  kill(signal: NodeJS.Signals, reach?: 'alone' | 'with_children'): Promise<void>
}

export const isRoot = process.getuid?.() === 0
/**
 * An account that owns nothing here: `nobody` everywhere. Children of an ordinary user run as that
 * user.
 */
export const ordinaryUser = isRoot ? { uid: 65_534 } : {}
export const repositoryDirectory = fileURLToPath(new URL('../../../', import.meta.url))
const builtDirectory = join(repositoryDirectory, 'dist')
const childScript = fileURLToPath(new URL('embedded-database-child.js', import.meta.url))

const homes = new Set<string>()
const directories = new Set<string>()
const children = new Set<ChildProcess>()

/** A temporary directory that every account can enter; removed by `cleanUp`. */
export async function makeDirectory(mode = 0o755): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'tracking-sync-embedded-'))
  directories.add(directory)
  await chmod(directory, mode)
  return directory
}

/**
 * A home that does not exist yet. Its server is stopped and its data are removed by `cleanUp`,
 * wherever they are.
 */
export async function makeHome(mode?: number): Promise<string> {
  return registerHome(join(await makeDirectory(mode), 'home'))
}

/** As `makeHome`, with a database that was made and stopped before. */
export async function makePreparedHome(): Promise<string> {
  const homeDirectory = await makeHome()
  await prepareHome(homeDirectory)
  return homeDirectory
}

export function registerHome(homeDirectory: string): string {
  homes.add(homeDirectory)
  return homeDirectory
}

export async function startChild(options: ChildOptions): Promise<Child> {
  const { distDirectory = builtDirectory, uid, env, ...startOptions } = options
  await access(join(distDirectory, 'extensions/embedded-postgres/embedded-database.js')).catch(
    (cause: unknown) => {
      throw new Error('These tests run the built program: run "npm run build" first.', { cause })
    },
  )
  // The script goes in as text: an unprivileged child may not be able to enter the directory of
  // this repository.
  const script = await readFile(childScript, 'utf8')
  const child = spawn(
    process.execPath,
    ['--input-type=module', '--eval', script, distDirectory, JSON.stringify(startOptions)],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
      cwd: tmpdir(),
      env: { PATH: process.env.PATH, ...env },
      detached: true,
      ...(uid === undefined ? {} : { uid, gid: uid }),
    },
  )
  children.add(child)
  const exited = once(child, 'exit')
  const ready = readReport(child)
  // Most tests await it, but not tests that kill the child first.
  ready.catch(() => undefined)
  return {
    process: child,
    ready,
    stop: async () => {
      child.stdin.end()
      await exited
    },
    kill: async (signal, reach = 'alone') => {
      process.kill(reach === 'alone' ? child.pid! : -child.pid!, signal)
      await exited
    },
  }
}

async function readReport(child: ChildProcess): Promise<ChildDatabase> {
  for await (const line of createInterface({ input: child.stdout! })) {
    const report = JSON.parse(line) as ChildDatabase | { error: { name: string; message: string } }
    if ('error' in report) throw new Error(`${report.error.name}: ${report.error.message}`)
    return report
  }
  throw new Error('the child ended without a report')
}

/** Leaves no process and no directory behind, also after a failed test. */
export async function cleanUp(): Promise<void> {
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
  children.clear()
  for (const homeDirectory of homes) {
    const options = { homeDirectory, logger: silentLogger }
    await stopEmbeddedDatabase(options)
    const { dataDirectory } = await embeddedDatabaseStatus(options).catch(() => ({
      dataDirectory: undefined,
    }))
    if (dataDirectory !== undefined)
      await rm(dirname(dataDirectory), { recursive: true, force: true })
  }
  homes.clear()
  // Where root's relocated data were: stays while other homes have theirs there.
  await rmdir('/var/lib/tracking-sync').catch(() => undefined)
  // With retries: the initdb of a killed child may still be writing.
  for (const directory of directories) {
    await rm(directory, { recursive: true, force: true, maxRetries: 5 })
  }
  directories.clear()
}

export async function query<Row extends pg.QueryResultRow>(
  url: string,
  sql: string,
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  await client.connect()
  try {
    return (await client.query<Row>(sql)).rows
  } finally {
    await client.end()
  }
}

export async function readServerPid(dataDirectory: string): Promise<number> {
  const text = await readFile(join(dataDirectory, 'postmaster.pid'), 'utf8')
  return Number.parseInt(text, 10)
}
