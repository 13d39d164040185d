import { execFile } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { basename, isAbsolute, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { isAlive } from './process-identity.js'
import { writeFileAtomically } from './write-file-atomically.js'

/** The file a running server keeps in its data directory. */
export interface PostmasterPid {
  readonly pid: number
  /** Undefined until the server has come so far. */
  readonly port: number | undefined
}

/** Undefined for a text that PostgreSQL has not finished writing, or did not write. */
export function parsePostmasterPid(text: string): PostmasterPid | undefined {
  const lines = text.split('\n')
  const pid = Number(lines[0])
  if (!Number.isSafeInteger(pid) || pid <= 1) return undefined
  const port = Number(lines[3])
  return { pid, port: Number.isSafeInteger(port) && port > 0 ? port : undefined }
}

/** Above the highest pid any system gives out. */
const NO_PID = '2147483647'

export async function readPostmasterPid(dataDirectory: string): Promise<PostmasterPid | undefined> {
  try {
    return parsePostmasterPid(await readFile(join(dataDirectory, 'postmaster.pid'), 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Makes PostgreSQL ignore the pid in the file: it refuses to start while any program, even a
 * zombie, has that pid. Only the pid goes. The rest names the shared memory by which PostgreSQL
 * notices that processes of a killed server still write to the data; a server started without that
 * check could ruin them. The caller knows that no server runs.
 */
export async function disownStalePid(dataDirectory: string): Promise<void> {
  const path = join(dataDirectory, 'postmaster.pid')
  const text = await readFile(path, 'utf8').catch(() => undefined)
  if (text !== undefined) await writeFileAtomically(path, text.replace(/^\d+/, NO_PID), 0o644)
}

/**
 * A server runs under the account that owns its data; what anybody else runs is none, whatever it
 * calls itself.
 */
async function isOfOwner(pid: number, dataDirectory: string): Promise<boolean> {
  const { uid } = await stat(dataDirectory)
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^Uid:\s+(\d+)/m.exec(status)?.[1]) === uid
}

/**
 * What the process behind a pid is. The pid in the file may belong to any program by now (after a
 * reboot, or in a new container), and PostgreSQL refuses to start while such a pid is taken.
 * `unknown`: the system does not tell.
 */
export async function classifyProcess(
  pid: number,
  dataDirectory: string,
): Promise<'server' | 'dead' | 'other' | 'unknown'> {
  if (!(await isAlive({ pid, startTime: null }))) return 'dead'
  try {
    if (process.platform === 'linux') {
      if (!(await isOfOwner(pid, dataDirectory))) return 'other'
      const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0')
      return classifyCommandLine(words, dataDirectory)
    }
    if (process.platform === 'win32') return 'unknown'
    const { stdout } = await promisify(execFile)('ps', ['-wwo', 'command=', '-p', String(pid)])
    return classifyCommandText(stdout.trim(), dataDirectory)
  } catch {
    return 'unknown'
  }
}

/**
 * `words`: the command line of a process. A server's own processes for its clients do not count:
 * their words differ.
 */
export function classifyCommandLine(
  words: readonly string[],
  dataDirectory: string,
): 'server' | 'other' | 'unknown' {
  const program = basename(words[0] ?? '').replace(/\.exe$/i, '')
  if (program !== 'postgres' && program !== 'postmaster') return 'other'
  const directory = words[words.indexOf('-D') + 1]
  if (!words.includes('-D') || directory === undefined || !isAbsolute(directory)) return 'unknown'
  return resolve(directory) === resolve(dataDirectory) ? 'server' : 'other'
}

/**
 * The same for a command line that is one text, as `ps` prints it: paths with spaces cannot be told
 * apart there.
 */
export function classifyCommandText(
  text: string,
  dataDirectory: string,
): 'server' | 'other' | 'unknown' {
  if (!/(^|\/)(postgres|postmaster)( |$)/.test(text)) return 'other'
  return text.includes(` -D ${dataDirectory}`) ? 'server' : 'unknown'
}
