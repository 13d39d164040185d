import { readFile } from 'node:fs/promises'

/**
 * Names a process for longer than it lives. A bare pid is not enough: pids are used again, and in a container every
 * program is pid 1 after each restart.
 */
export interface ProcessIdentity {
  readonly pid: number
  /** Linux: when the process started, in clock ticks since boot. Elsewhere null, and the pid alone must do. */
  readonly startTime: string | null
}

export async function ownIdentity(): Promise<ProcessIdentity> {
  return { pid: process.pid, startTime: (await readProcessStat(process.pid))?.startTime ?? null }
}

/** True while this very process runs. A zombie (ended, but not yet collected by its parent) is not alive. */
export async function isAlive(identity: ProcessIdentity): Promise<boolean> {
  if (!isPidTaken(identity.pid)) return false
  const stat = await readProcessStat(identity.pid)
  if (stat === undefined) return true
  if (stat.state === 'Z' || stat.state === 'X') return false
  return identity.startTime === null || identity.startTime === stat.startTime
}

export function formatIdentity(identity: ProcessIdentity): string {
  return `${JSON.stringify(identity)}\n`
}

/** Undefined for anything that is not a whole identity, for example a file cut short by a full disk. */
export function parseIdentity(text: string): ProcessIdentity | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const { pid, startTime } = value as Record<string, unknown>
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 0) return undefined
  return { pid, startTime: typeof startTime === 'string' ? startTime : null }
}

function isPidTaken(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it runs, under another account.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

async function readProcessStat(
  pid: number,
): Promise<{ state: string | undefined; startTime: string | null } | undefined> {
  if (process.platform !== 'linux') return undefined
  try {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8')
    // The second field is the program's name in parentheses and may hold spaces: count from behind it.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return { state: fields[0], startTime: fields[19] ?? null }
  } catch {
    return undefined
  }
}
