/**
 * One starter (or stopper) of a database at a time, across processes.
 *
 * The lock is a row of files `lock.1`, `lock.2`, …; only the highest number counts. It is free when
 * its text says so or the process it names is dead, and is taken by creating the next number, which
 * only one process can do. The highest file is never deleted, so a slow process that looked at an
 * old number sees the newer one and steps back. A single lock file that is deleted and made again
 * could be broken twice.
 *
 * The users of the server are counted under the same lock (decision 28): `users/` beside the data
 * has one file for each process that uses it, and `kept` for a server that stays.
 */
import { readFile, readdir, rm, stat, writeFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { randomUUID } from 'node:crypto'
import { EmbeddedDatabaseError } from '../../base/errors.js'
import { isIdentityAlive, ownIdentity } from './processes.js'

const RELEASED = 'released\n'
const LOCK_NAME = /^lock\.(\d+)$/
const POLL_MS = 25
/** A first start takes seconds; recovery after a crash may take longer. */
const WAIT_LIMIT_MS = 120_000
/** An empty lock file is being written, unless its writer was killed between two system calls. */
const EMPTY_LOCK_LIMIT_MS = 5_000

/** Runs `action` alone; waits for the holder of the lock. Throws after two minutes of waiting. */
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
  const identity = await ownIdentity()
  const path = (number: number): string => join(directory, `lock.${number}`)
  const deadline = performance.now() + WAIT_LIMIT_MS
  for (;;) {
    const current = Math.max(0, ...(await listNumbers(directory)))
    if (current === 0 || (await isFree(path(current)))) {
      const mine = current + 1
      if (await createExclusively(path(mine), identity)) {
        const numbers = await listNumbers(directory)
        if (Math.max(...numbers) === mine) {
          for (const number of numbers) if (number < mine) await rm(path(number), { force: true })
          return path(mine)
        }
        await rm(path(mine), { force: true })
      }
    }
    if (performance.now() > deadline) {
      const seconds = WAIT_LIMIT_MS / 1000
      throw new EmbeddedDatabaseError(
        `Another process has been starting or stopping the database in ${directory} for ` +
          `${seconds} seconds; end it (its pid is in ${path(current)}) and try again.`,
      )
    }
    await delay(POLL_MS)
  }
}

async function isFree(path: string): Promise<boolean> {
  try {
    const text = await readFile(path, 'utf8')
    if (text === RELEASED) return true
    const isHeld = await isIdentityAlive(text)
    return isHeld === undefined
      ? Date.now() - (await stat(path)).mtimeMs > EMPTY_LOCK_LIMIT_MS
      : !isHeld
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

async function listNumbers(directory: string): Promise<number[]> {
  const names = await readdir(directory)
  return names.flatMap((name) => LOCK_NAME.exec(name)?.[1] ?? []).map(Number)
}

const KEPT = 'kept'

/**
 * Enters this process as a user; returns the file whose removal ends the use. Call this and the two
 * below under the lock.
 */
export async function enterUser(directory: string): Promise<string> {
  await mkdir(join(directory, 'users'), { recursive: true })
  const file = join(directory, 'users', `${process.pid}-${randomUUID()}`)
  await writeFile(file, await ownIdentity())
  return file
}

/** Counts the users that live, with `kept` as one of them, and forgets the others. */
export async function countUsers(directory: string): Promise<number> {
  let count = 0
  for (const name of await readdir(join(directory, 'users')).catch(() => [])) {
    const file = join(directory, 'users', name)
    if (name === KEPT || (await isIdentityAlive(await readFile(file, 'utf8'))) === true) count += 1
    else await rm(file, { force: true })
  }
  return count
}

export async function setKept(directory: string, isKept: boolean): Promise<void> {
  const file = join(directory, 'users', KEPT)
  if (isKept) await writeFile(file, '')
  else await rm(file, { force: true })
}
