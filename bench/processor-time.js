import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** A tick of the kernel's accounts: 10 ms on every Linux that Node runs on. */
const TICK_MS = 10
const SETTLING_MS = 300

/**
 * Processor time, user and system, that a process has used so far, in milliseconds; with `children`
 * also that of its children that have ended and were waited for, and of theirs. NaN where there is
 * no /proc, or no such process.
 */
export function readCpuMs(pid, { children = false } = {}) {
  const fields = readStat(pid)
  if (fields === undefined) return Number.NaN
  const [user, system, endedUser, endedSystem] = fields.slice(11, 15).map(Number)
  return (user + system + (children ? endedUser + endedSystem : 0)) * TICK_MS
}

/**
 * Processor time of a PostgreSQL server on this machine so far, in milliseconds: of its first
 * process, of all that it has now and of those that have ended. `client` is connected to it. NaN
 * where the server is on another machine.
 */
export async function readServerCpuMs(client) {
  // Sessions that have just been closed end first: one that ends while we count would be counted
  // nowhere.
  await sleep(SETTLING_MS)
  const { rows } = await client.query('select pg_backend_pid() as pid')
  const parent = Number(readStat(rows[0].pid)?.[1] ?? Number.NaN)
  let sum = readCpuMs(parent, { children: true })
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const fields = readStat(name)
    if (fields !== undefined && Number(fields[1]) === parent) sum += readCpuMs(name) || 0
  }
  return sum
}

/**
 * The fields after the program's name: state, parent, … See proc_pid_stat(5), whose numbers are
 * three higher.
 */
function readStat(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(') ') + 2).split(' ')
  } catch {
    return undefined
  }
}
