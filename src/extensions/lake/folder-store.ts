import { mkdir, open, readdir, readFile, rename, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join, posix, sep } from 'node:path'
import { MANIFEST } from './lake.js'
import { onDisk, refuse, type LakeStore, type StoredFile } from './lake-store.js'

/** Engines pass over names with a point. */
const WORK = '.work'

/**
 * A lake in a folder. Its work folder is in it, on the same disk, so that a finished file is only
 * renamed; each export removes what a killed one left there. `name` is the folder as the user wrote
 * it.
 */
export function folderStore(name: string, folder: string): LakeStore {
  const onItsDisk = <Result>(work: () => Promise<Result>): Promise<Result> => onDisk(name, work)
  const pathOf = (one: string): string => join(folder, WORK, one)
  const removeWork = (): Promise<void> => rm(join(folder, WORK), { recursive: true, force: true })
  let isOpen = false
  return {
    name,
    work: { name, pathOf },
    read: (path) => onItsDisk(() => unlessAbsent(readFile(join(folder, path), 'utf8'), undefined)),
    isTaken: () => onItsDisk(() => isTaken(folder)),
    open: () =>
      onItsDisk(async () => {
        await makeFolder(name, folder)
        isOpen = true
        await removeWork()
        await mkdir(join(folder, WORK))
      }),
    list: (top) => onItsDisk(() => listFiles(folder, top)),
    place: (files) =>
      onItsDisk(async () => {
        const folders = new Set<string>()
        for (const { path, workPath } of files) {
          const target = join(folder, path)
          await mkdir(dirname(target), { recursive: true })
          await syncToDisk(workPath)
          await rename(workPath, target)
          for (let at = dirname(target); at.length >= folder.length; at = dirname(at)) {
            folders.add(at)
          }
        }
        for (const one of folders) await syncFolder(one)
      }),
    replace: (path, text) =>
      onItsDisk(async () => {
        const target = join(folder, path)
        await mkdir(dirname(target), { recursive: true })
        await replaceFile(target, pathOf(posix.basename(path)), text)
      }),
    remove: (paths) =>
      onItsDisk(async () => {
        for (const path of paths) {
          const target = join(folder, path)
          await rm(target)
          // A partition that is empty now; one with other files stays.
          await rmdir(dirname(target)).catch(() => undefined)
        }
      }),
    close: async () => {
      if (isOpen) await onItsDisk(removeWork)
    },
  }
}

/** Not recursive: where nobody can make a folder, as below /proc, Node would try for ever. */
async function makeFolder(name: string, folder: string): Promise<void> {
  await mkdir(folder).catch((thrown: unknown) => {
    if (codeOf(thrown) === 'ENOENT') {
      throw refuse(`${name} is in a folder that does not exist; make that first`)
    }
    if (codeOf(thrown) !== 'EEXIST') throw thrown
  })
}

/** An export that was killed before it took the folder leaves only its work folder. */
async function isTaken(folder: string): Promise<boolean> {
  const found = await unlessAbsent(readdir(folder), [])
  const others = found.filter((one) => one !== WORK && one !== dirname(MANIFEST))
  const beside = await unlessAbsent(readdir(join(folder, dirname(MANIFEST))), [])
  return others.length + beside.length > 0
}

async function listFiles(folder: string, top: string): Promise<StoredFile[]> {
  const found = await unlessAbsent(readdir(join(folder, top), { recursive: true }), [])
  const files: StoredFile[] = []
  for (const one of found) {
    const path = posix.join(top, one.replaceAll(sep, '/'))
    const about = await unlessAbsent(stat(join(folder, path)), undefined)
    if (about?.isFile() === true) files.push({ path, bytes: about.size })
  }
  return files
}

async function replaceFile(target: string, beside: string, text: string): Promise<void> {
  const file = await open(beside, 'w')
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(beside, target)
  await syncFolder(dirname(target))
}

async function syncToDisk(path: string): Promise<void> {
  const file = await open(path, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Where a folder can be opened: not on Windows, which keeps names by itself. */
async function syncFolder(folder: string): Promise<void> {
  const opened = await open(folder, 'r').catch(() => undefined)
  try {
    await opened?.sync()
  } finally {
    await opened?.close()
  }
}

async function unlessAbsent<Found, Else>(
  looked: Promise<Found>,
  otherwise: Else,
): Promise<Found | Else> {
  return looked.catch((thrown: unknown) => {
    if (codeOf(thrown) === 'ENOENT') return otherwise
    throw thrown
  })
}

function codeOf(thrown: unknown): string | undefined {
  return (thrown as NodeJS.ErrnoException).code
}
