import { randomUUID } from 'node:crypto'
import { open, rename } from 'node:fs/promises'

/**
 * Written beside and renamed, so that a reader sees the old text or the new one and never a part. Works through the open
 * file only: root also writes in a directory of another account, who must not be able to slip a link in between.
 */
export async function writeFileAtomically(path: string, text: string, mode: number): Promise<void> {
  const draft = `${path}.${randomUUID()}`
  const file = await open(draft, 'wx', mode)
  try {
    await file.writeFile(text)
    // Not left to the umask: the server's account reads some of these files.
    await file.chmod(mode)
  } finally {
    await file.close()
  }
  await rename(draft, path)
}
