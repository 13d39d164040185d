import { randomUUID } from 'node:crypto'
import { access, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { formatIdentity, isAlive, ownIdentity, parseIdentity } from './process-identity.js'

/**
 * Who needs the server. Every function is called while the start lock is held, so reading and writing here cannot race.
 */

/** Enters this process as a user; returns the file whose removal ends the use. */
export async function enterUser(areaDirectory: string): Promise<string> {
  const directory = usersDirectory(areaDirectory)
  await mkdir(directory, { recursive: true })
  const file = join(directory, `${process.pid}-${randomUUID()}`)
  await writeFile(file, formatIdentity(await ownIdentity()))
  return file
}

export async function leaveUser(userFile: string): Promise<void> {
  await rm(userFile, { force: true })
}

/** Counts the users whose process is alive, and forgets the others. */
export async function countUsers(areaDirectory: string): Promise<number> {
  const directory = usersDirectory(areaDirectory)
  let count = 0
  for (const name of await readdir(directory).catch(() => [])) {
    const file = join(directory, name)
    const identity = parseIdentity(await readFile(file, 'utf8'))
    if (identity !== undefined && (await isAlive(identity))) count += 1
    else await rm(file, { force: true })
  }
  return count
}

/** Whether the running server was started to stay after its starter has ended. */
export async function isKeptRunning(areaDirectory: string): Promise<boolean> {
  return access(keepRunningFile(areaDirectory)).then(
    () => true,
    () => false,
  )
}

export async function setKeptRunning(areaDirectory: string, isKept: boolean): Promise<void> {
  if (isKept) await writeFile(keepRunningFile(areaDirectory), '')
  else await rm(keepRunningFile(areaDirectory), { force: true })
}

function usersDirectory(areaDirectory: string): string {
  return join(areaDirectory, 'users')
}

function keepRunningFile(areaDirectory: string): string {
  return join(areaDirectory, 'keep-running')
}
