import { randomUUID } from 'node:crypto'
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isIdentityAlive, ownIdentity } from './processes.js'

/**
 * Who needs the server: one file for each process that uses it, and `kept` for a server that is to
 * stay. Call all of this under the start lock only. Why users are counted: decision 28.
 */

const KEPT = 'kept'

/** Enters this process as a user; returns the file whose removal ends the use. */
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
