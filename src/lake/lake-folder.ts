import { mkdir, open, readdir, readFile, rename, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join, posix, sep } from 'node:path'
import { ConfigError } from '../base/errors.js'
import {
  firstManifest,
  formatManifest,
  parseManifest,
  type Manifest,
  type ManifestFile,
  type WarehouseIdentity,
} from './manifest.js'

/** In a folder of its own, because some engines read folders and no files. */
const MANIFEST = 'manifest/manifest.json'
/** Engines pass over names with a point. */
const WORK = '.work'
/** What an export writes, below the folders of the tables. */
const OUR_FILE = /(?:^|\/)export-\d+\.parquet$/
const OUR_FOLDERS = ['tables', 'answers']

/** A file that is complete, under a name of the work folder. */
export interface FinishedFile extends ManifestFile {
  readonly workPath: string
}

/**
 * The folder of a lake. What `commit` names counts from then on, at once and whole. Only one export
 * may use it at a time; the caller sees to that.
 */
export class LakeFolder {
  readonly #name: string
  readonly #folder: string
  #manifest: Manifest

  private constructor(name: string, folder: string, manifest: Manifest) {
    this.#name = name
    this.#folder = folder
    this.#manifest = manifest
  }

  /**
   * Takes a folder for this warehouse, or goes on with it: what a killed export left is removed.
   * `name` is what the user calls it. Throws ConfigError where the folder holds anything else, and
   * then leaves it as it is.
   */
  static async open(
    name: string,
    folder: string,
    warehouse: WarehouseIdentity,
  ): Promise<LakeFolder> {
    return withFolder(name, async () => {
      const found = await readManifest(name, folder)
      if (found !== undefined) refuseOtherWarehouse(name, found.warehouse, warehouse)
      const lake = new LakeFolder(name, folder, found ?? firstManifest(warehouse))
      await makeFolder(name, folder)
      await rm(join(folder, WORK), { recursive: true, force: true })
      await mkdir(join(folder, WORK))
      if (found === undefined) await lake.#replaceManifest(lake.#manifest)
      await lake.#removeUnnamed()
      return lake
    })
  }

  get manifest(): Manifest {
    return this.#manifest
  }

  /** A place for what is not complete, on the same disk; emptied by the next export. */
  workPath(name: string): string {
    return join(this.#folder, WORK, name)
  }

  /** Files that the manifest names and that are not there as they were written, by path. */
  async findMissing(): Promise<ReadonlySet<string>> {
    const missing = new Set<string>()
    for (const { path, bytes } of this.#manifest.files) {
      const found = await stat(join(this.#folder, path)).catch(() => undefined)
      if (found?.size !== bytes) missing.add(path)
    }
    return missing
  }

  /**
   * Puts the files into their places, then the manifest in place of the one before. All of it is on
   * the disk when a reader can see it.
   */
  async commit(
    manifest: Manifest,
    files: readonly FinishedFile[],
    onPlaced: () => void,
  ): Promise<void> {
    await withFolder(this.#name, async () => {
      const folders = new Set<string>()
      for (const { path, workPath } of files) {
        const target = join(this.#folder, path)
        await mkdir(dirname(target), { recursive: true })
        await syncToDisk(workPath)
        await rename(workPath, target)
        for (let at = dirname(target); at.length >= this.#folder.length; at = dirname(at)) {
          folders.add(at)
        }
      }
      for (const folder of folders) await syncFolder(folder)
      onPlaced()
      await this.#replaceManifest(manifest)
    })
  }

  /** Removes files of earlier exports that have been replaced, and the work folder. */
  async tidy(): Promise<void> {
    await withFolder(this.#name, async () => {
      await this.#removeUnnamed()
      await rm(join(this.#folder, WORK), { recursive: true, force: true })
    })
  }

  async #replaceManifest(manifest: Manifest): Promise<void> {
    const target = join(this.#folder, MANIFEST)
    const beside = this.workPath('manifest.json')
    await mkdir(dirname(target), { recursive: true })
    const file = await open(beside, 'w')
    try {
      await file.writeFile(formatManifest(manifest))
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(beside, target)
    await syncFolder(dirname(target))
    this.#manifest = manifest
  }

  /** Only names that an export gives; what others put beside them stays. */
  async #removeUnnamed(): Promise<void> {
    const named = new Set(this.#manifest.files.map(({ path }) => path))
    for (const top of OUR_FOLDERS) {
      const found = await listFolder(join(this.#folder, top), true)
      const paths = found.map((path) => posix.join(top, path.replaceAll(sep, '/')))
      for (const path of paths) {
        if (!OUR_FILE.test(path) || named.has(path)) continue
        const target = join(this.#folder, path)
        await rm(target)
        // A partition that is empty now; one with other files stays.
        await rmdir(dirname(target)).catch(() => undefined)
      }
    }
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

async function readManifest(name: string, folder: string): Promise<Manifest | undefined> {
  const text = await readFile(join(folder, MANIFEST), 'utf8').catch((thrown: unknown) => {
    if (codeOf(thrown) === 'ENOENT') return undefined
    throw thrown
  })
  if (text === undefined) {
    await requireFree(name, folder)
    return undefined
  }
  const manifest = parseManifest(text)
  if (manifest !== undefined) return manifest
  throw refuse(
    `${name} has a ${MANIFEST} that this program did not write, or that a later version of it ` +
      'wrote; name another folder, or use that version',
  )
}

/** An export that was killed before it took the folder leaves no more than its work folder. */
async function requireFree(name: string, folder: string): Promise<void> {
  const found = await listFolder(folder, false)
  const others = found.filter((one) => one !== WORK && one !== dirname(MANIFEST))
  const beside = await listFolder(join(folder, dirname(MANIFEST)), false)
  if (others.length + beside.length === 0) return
  throw refuse(
    `${name} has files in it and no ${MANIFEST}, so it is no export of this program; ` +
      'name a folder that is new, empty or one of its exports',
  )
}

async function listFolder(folder: string, recursive: boolean): Promise<string[]> {
  return readdir(folder, { recursive }).catch((thrown: unknown) => {
    if (codeOf(thrown) === 'ENOENT') return []
    throw thrown
  })
}

function refuseOtherWarehouse(
  name: string,
  found: WarehouseIdentity,
  wanted: WarehouseIdentity,
): void {
  if (found.id === wanted.id) return
  const same = found.schema === wanted.schema && found.source === wanted.source
  throw refuse(
    `${name} holds the warehouse ${found.schema} of ${found.source}` +
      (same ? ', but another one of that name' : ` and not ${wanted.schema} of ${wanted.source}`) +
      '; name a folder of its own for each warehouse',
  )
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

function codeOf(thrown: unknown): string | undefined {
  return (thrown as NodeJS.ErrnoException).code
}

export function refuse(problem: string): ConfigError {
  return new ConfigError([{ setting: '--out', problem }])
}

/** Runs `work`; whatever the disk refuses is told of the folder, as the user calls it. */
export async function withFolder<Result>(
  name: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (thrown) {
    const code = codeOf(thrown)
    if (thrown instanceof ConfigError || code === undefined) throw thrown
    throw new ConfigError(
      [
        {
          setting: '--out',
          problem: `${name} cannot be used (${code}); free or mend it, or name another folder`,
        },
      ],
      { cause: thrown },
    )
  }
}
