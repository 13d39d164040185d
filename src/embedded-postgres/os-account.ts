import { realpath, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** The operating system account PostgreSQL runs under when we are root, which it refuses to be. */
export interface Account {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

/** In this order: the one made for PostgreSQL, then the one that owns nothing. */
const PREFERRED_NAMES = ['postgres', 'nobody']

/** `passwd` is the text of /etc/passwd. Never picks uid 0. */
export function chooseAccount(passwd: string): Account | undefined {
  const accounts = passwd.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':')
    if (name === undefined || !/^\d+$/.test(uid ?? '') || !/^\d+$/.test(gid ?? '')) return []
    return Number(uid) === 0 ? [] : [{ name, uid: Number(uid), gid: Number(gid) }]
  })
  return PREFERRED_NAMES.map((name) => accounts.find((account) => account.name === name)).find(
    (account) => account !== undefined,
  )
}

export interface FilePermissions {
  readonly mode: number
  readonly uid: number
  readonly gid: number
}

/**
 * Plain mode bits, for an account without supplementary groups (that is how children are started).
 */
export function mayAccess(
  file: FilePermissions,
  account: Account,
  want: 'enter' | 'read',
): boolean {
  const bit = want === 'enter' ? 0o1 : 0o4
  if (file.uid === account.uid) return (file.mode & (bit << 6)) !== 0
  if (file.gid === account.gid) return (file.mode & (bit << 3)) !== 0
  return (file.mode & bit) !== 0
}

/** The first directory on the way to `directory`, or itself, that the account cannot enter. */
export async function findBlockedDirectory(
  directory: string,
  account: Account,
): Promise<string | undefined> {
  const ancestors: string[] = []
  for (let path = await realpath(directory); ; path = dirname(path)) {
    ancestors.unshift(path)
    if (path === dirname(path)) break
  }
  for (const path of ancestors) {
    if (!mayAccess(await stat(path), account, 'enter')) return path
  }
  return undefined
}
