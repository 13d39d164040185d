import { spawnSync } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { inject } from 'vitest'

/**
 * Gives a home the data and passwords of a stopped embedded database, so that its first start makes
 * none: a tenth of the time. Without a prepared one, as on a given server, the first start makes
 * its own.
 */
export async function prepareHome(homeDirectory: string): Promise<void> {
  await copyDatabase(inject('preparedHome'), homeDirectory)
}

/** `from` may be empty. Files of one server, such as its port and its log, are not copied. */
export async function copyDatabase(from: string, to: string): Promise<void> {
  if (from === '') return
  await mkdir(join(to, 'database'), { recursive: true, mode: 0o755 })
  const parts = ['data', 'password', 'admin-password'].map((name) => join(from, 'database', name))
  // Keeps the owner, which for root is the account of the server.
  const { status, stderr } = spawnSync('cp', ['-a', ...parts, join(to, 'database')])
  if (status !== 0) throw new Error(`the prepared database cannot be copied: ${String(stderr)}`)
}
