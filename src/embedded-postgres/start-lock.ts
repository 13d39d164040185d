/**
 * One starter (or stopper) of a database at a time, across processes.
 *
 * The lock is a row of files `lock.1`, `lock.2`, …; only the highest number counts. It is free when its text says so or
 * when the process it names is dead, and is taken by creating the next number, which only one process can do. The
 * highest file is never deleted, so a slow process that judged an old number sees the newer one and steps back: a stale
 * lock cannot be broken twice, which is the weakness of a single lock file that is deleted and created again.
 */
import { readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { EmbeddedDatabaseError } from '../base/errors.js'
import { formatIdentity, isAlive, ownIdentity, parseIdentity } from './process-identity.js'

const RELEASED = 'released\n'
const LOCK_NAME = /^lock\.(\d+)$/
const POLL_MS = 25
/** A first start takes seconds; recovery after a crash may take longer. */
const WAIT_LIMIT_MS = 120_000
/** A lock file without text is being written at this moment, unless its writer was killed between two system calls. */
const EMPTY_LOCK_LIMIT_MS = 5_000

/** Runs `action` alone; waits for whoever holds the lock. Throws after two minutes of waiting. */
export async function withStartLock<Result>(
  directory: string,
  action: () => Promise<Result>,
): Promise<Result> {
  const lockFile = await acquire(directory)
  try {
    return await action()
  } finally {
    await writeFile(lockFile, RELEASED)
  }
}

async function acquire(directory: string): Promise<string> {
  const identity = formatIdentity(await ownIdentity())
  const deadline = performance.now() + WAIT_LIMIT_MS
  for (;;) {
    const current = await findHighest(directory)
    if (current === 0 || (await isFree(lockPath(directory, current)))) {
      const mine = current + 1
      if (await createExclusively(lockPath(directory, mine), identity)) {
        if ((await findHighest(directory)) === mine) {
          await removeBelow(directory, mine)
          return lockPath(directory, mine)
        }
        await rm(lockPath(directory, mine), { force: true })
      }
    }
    if (performance.now() > deadline) {
      throw new EmbeddedDatabaseError(
        `Another process has been starting or stopping the database in ${directory} for ${WAIT_LIMIT_MS / 1000} seconds; ` +
          `end it (its pid is in ${lockPath(directory, current)}) and try again.`,
      )
    }
    await delay(POLL_MS)
  }
}

async function isFree(path: string): Promise<boolean> {
  try {
    const text = await readFile(path, 'utf8')
    if (text === RELEASED) return true
    const holder = parseIdentity(text)
    if (holder !== undefined) return !(await isAlive(holder))
    return Date.now() - (await stat(path)).mtimeMs > EMPTY_LOCK_LIMIT_MS
  } catch (error) {
    // Removed since it was listed: there is a higher one, so look again.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

async function createExclusively(path: string, text: string): Promise<boolean> {
  try {
    await writeFile(path, text, { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

async function findHighest(directory: string): Promise<number> {
  return Math.max(0, ...(await listNumbers(directory)))
}

async function removeBelow(directory: string, mine: number): Promise<void> {
  for (const number of await listNumbers(directory)) {
    if (number < mine) await rm(lockPath(directory, number), { force: true })
  }
}

async function listNumbers(directory: string): Promise<number[]> {
  const names = await readdir(directory)
  return names.flatMap((name) => LOCK_NAME.exec(name)?.[1] ?? []).map(Number)
}

function lockPath(directory: string, number: number): string {
  return join(directory, `lock.${number}`)
}
