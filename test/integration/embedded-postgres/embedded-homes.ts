import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { access, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import {
  makeFreshHome,
  makePreparedHome as prepareFreshHome,
  removeFreshHomes,
} from '../../support/fresh-home.js'
import { withClient } from '../../support/with-client.js'

/** The report of a started child. */
interface ChildDatabase {
  readonly url: string
  readonly isAdopted: boolean
  readonly dataDirectory: string
}

interface ChildOptions {
  readonly homeDirectory: string
  readonly keepRunning?: boolean
  readonly distDirectory?: string
  /** Run as this account; only root can. */
  readonly uid?: number
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

const children = new Set<ChildProcess>()

/** A temporary directory that every account can enter; removed by `cleanUp`. */
export async function makeDirectory(mode?: number): Promise<string> {
  return (await makeFreshHome(undefined, mode)).directory
}

/**
 * A home that does not exist yet. Its server is stopped and its data are removed by `cleanUp`,
 * wherever they are.
 */
export async function makeHome(mode?: number): Promise<string> {
  return (await makeFreshHome('home', mode)).homeDirectory
}

/** As `makeHome`, with a database that was made and stopped before. */
export async function makePreparedHome(): Promise<string> {
  return (await prepareFreshHome()).homeDirectory
}

export async function startChild(options: ChildOptions) {
  const { distDirectory = builtDirectory, uid, ...startOptions } = options
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
      env: { PATH: process.env.PATH },
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
    /** Rejects with the child's own message when the start failed. */
    ready,
    /** Ends its input, as a command that has done its work. */
    stop: async (): Promise<void> => {
      child.stdin.end()
      await exited
    },
    kill: async (signal: NodeJS.Signals, reach: 'alone' | 'with_children' = 'alone') => {
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
  await removeFreshHomes()
}

export async function query<Row extends pg.QueryResultRow>(
  url: string,
  sql: string,
): Promise<Row[]> {
  return withClient(url, async (client) => (await client.query<Row>(sql)).rows)
}

export async function readServerPid(dataDirectory: string): Promise<number> {
  const text = await readFile(join(dataDirectory, 'postmaster.pid'), 'utf8')
  return Number.parseInt(text, 10)
}
