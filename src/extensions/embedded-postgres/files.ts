import { randomUUID } from 'node:crypto'
import { open, readFile, rename, stat } from 'node:fs/promises'

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

/** The text of a file; undefined when it does not exist. */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Writes beside the file and renames, so that a reader sees the old text or the new one. Works
 * through the open file only: root also writes in a directory of another account, who must not be
 * able to slip a link in between.
 */
export async function writeFileAtomically(path: string, text: string, mode: number): Promise<void> {
  const draft = `${path}.${randomUUID()}`
  const file = await open(draft, 'wx', mode)
  try {
    await file.writeFile(text)
    // The umask does not decide it: the server's account reads some of these files.
    await file.chmod(mode)
  } finally {
    await file.close()
  }
  await rename(draft, path)
}
