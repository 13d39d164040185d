import { execFile } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { promisify } from 'node:util'
import { readIfThere, writeFileAtomically } from './files.js'

/**
 * This process as a line of text that still names it after its end: its pid and, on Linux, when it
 * started, in clock ticks since boot. A bare pid is not enough: pids are used again, and in a
 * container every program is pid 1 after each restart.
 */
export async function ownIdentity(): Promise<string> {
  return `${process.pid} ${(await readProcessStat(process.pid))?.startTime ?? ''}\n`
}

/** Whether the named process still runs; undefined for a text that was cut short. */
export async function isIdentityAlive(text: string): Promise<boolean | undefined> {
  const [, pid, startTime = ''] = /^(\d+) (\d*)\n$/.exec(text) ?? []
  return pid === undefined ? undefined : isAlive(Number(pid), startTime)
}

/** A zombie (ended, but not yet collected by its parent) is not alive. */
export async function isAlive(pid: number, startTime = ''): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM: it runs, under another account.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  const known = await readProcessStat(pid)
  if (known === undefined) return true
  if (known.state === 'Z' || known.state === 'X') return false
  return startTime === '' || startTime === known.startTime
}

async function readProcessStat(
  pid: number,
): Promise<{ state: string | undefined; startTime: string | undefined } | undefined> {
  if (process.platform !== 'linux') return undefined
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  // The second field is the program's name in parentheses and may hold spaces.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ')
  return fields && { state: fields[0], startTime: fields[19] }
}

/** The content of `postmaster.pid`, which a running server keeps in its data directory. */
export interface Postmaster {
  readonly pid: number
  /** Undefined until the server has written it. */
  readonly port: number | undefined
}

/** Undefined for a text that PostgreSQL has not finished writing, or did not write. */
export function parsePostmasterPid(text: string): Postmaster | undefined {
  const [first, , , fourth] = text.split('\n')
  const pid = Number(first)
  const port = Number(fourth)
  if (!Number.isSafeInteger(pid) || pid <= 1) return undefined
  return { pid, port: Number.isSafeInteger(port) && port > 0 ? port : undefined }
}

export async function readPostmaster(dataDirectory: string): Promise<Postmaster | undefined> {
  return parsePostmasterPid((await readIfThere(pidFile(dataDirectory))) ?? '')
}

/** Above the highest pid any system gives out. */
const NO_PID = '2147483647'

/**
 * Makes PostgreSQL ignore the pid in the file: it refuses to start while any program, even a
 * zombie, has that pid. Only the pid goes. The rest names the shared memory by which PostgreSQL
 * notices that processes of a killed server still write to the data. Call it only when no server
 * runs.
 */
export async function disownStalePid(dataDirectory: string): Promise<void> {
  const path = pidFile(dataDirectory)
  const text = await readIfThere(path)
  if (text !== undefined) await writeFileAtomically(path, text.replace(/^\d+/, NO_PID), 0o644)
}

function pidFile(dataDirectory: string): string {
  return join(dataDirectory, 'postmaster.pid')
}

/**
 * Classifies the process behind a pid; `unknown` when the system does not say. After a reboot, or
 * in a new container, the pid in `postmaster.pid` may belong to any program.
 */
export async function classifyProcess(
  pid: number,
  dataDirectory: string,
): Promise<'server' | 'dead' | 'other' | 'unknown'> {
  if (!(await isAlive(pid))) return 'dead'
  try {
    if (process.platform === 'linux') {
      if (!(await isOfOwner(pid, dataDirectory))) return 'other'
      const words = await readFile(`/proc/${pid}/cmdline`, 'utf8')
      return classifyCommand(words.replaceAll('\0', ' '), dataDirectory)
    }
    if (process.platform === 'win32') return 'unknown'
    const { stdout } = await promisify(execFile)('ps', ['-wwo', 'command=', '-p', String(pid)])
    return classifyCommand(stdout, dataDirectory)
  } catch {
    return 'unknown'
  }
}

/** PostgreSQL runs only as the account that owns its data. */
async function isOfOwner(pid: number, dataDirectory: string): Promise<boolean> {
  const { uid } = await stat(dataDirectory)
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^Uid:\s+(\d+)/m.exec(status)?.[1]) === uid
}

/** A server's own processes for its clients do not count: they call themselves `postgres: …`. */
export function classifyCommand(
  command: string,
  dataDirectory: string,
): 'server' | 'other' | 'unknown' {
  if (!/^(?:.*\/)?(?:postgres|postmaster)(?: |$)/.test(command)) return 'other'
  const [, directory = ''] = command.trim().split(/ -D (.*)/s)
  if (!isAbsolute(directory)) return 'unknown'
  return `${directory} `.replace('/ ', ' ').startsWith(`${dataDirectory} `) ? 'server' : 'other'
}
