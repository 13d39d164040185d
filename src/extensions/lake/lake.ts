import { refuse, type LakeStore, type UnplacedFile, type WorkFolder } from './lake-store.js'
import {
  firstManifest,
  formatManifest,
  parseManifest,
  type Manifest,
  type ManifestFile,
  type WarehouseIdentity,
} from './manifest.js'

/** In a folder of its own, because some engines read folders and no files. */
export const MANIFEST = 'manifest/manifest.json'
/** The files and folders of an export, below the folders of the tables. */
const OUR_FILE = /(?:^|\/)export-\d+\.parquet$/
const OUR_FOLDERS = ['tables', 'answers']

/** A file that is complete, under a name of the work folder. */
export type FinishedFile = ManifestFile & UnplacedFile

/** A lake in its place. `commit` makes the files of a new manifest count, at once and whole. */
export class Lake {
  readonly #store: LakeStore
  #manifest: Manifest

  private constructor(store: LakeStore, manifest: Manifest) {
    this.#store = store
    this.#manifest = manifest
  }

  /**
   * Takes a place for this warehouse, or goes on with it and removes the leftovers of a killed
   * export. Throws ConfigError where the place holds anything else, and then leaves it as it is.
   */
  static async open(store: LakeStore, warehouse: WarehouseIdentity): Promise<Lake> {
    const found = await readManifest(store)
    if (found !== undefined) refuseOtherWarehouse(store.name, found.warehouse, warehouse)
    const lake = new Lake(store, found ?? firstManifest(warehouse))
    await store.open()
    if (found === undefined) await lake.#replaceManifest(lake.#manifest)
    await lake.removeUnnamed()
    return lake
  }

  get manifest(): Manifest {
    return this.#manifest
  }

  /** For files that are not complete. */
  get work(): WorkFolder {
    return this.#store.work
  }

  /** Files that the manifest names and that are not there as they were written, by path. */
  async findMissing(): Promise<ReadonlySet<string>> {
    const sizes = new Map((await this.#list()).map(({ path, bytes }) => [path, bytes]))
    const { files } = this.#manifest
    return new Set(
      files.filter(({ path, bytes }) => sizes.get(path) !== bytes).map(({ path }) => path),
    )
  }

  /**
   * Puts the files into their places, then the manifest in place of the one before. All of it stays
   * when a reader can see it.
   */
  async commit(
    manifest: Manifest,
    files: readonly FinishedFile[],
    onPlaced: () => void,
  ): Promise<void> {
    await this.#store.place(files)
    onPlaced()
    await this.#replaceManifest(manifest)
  }

  async #replaceManifest(manifest: Manifest): Promise<void> {
    await this.#store.replace(MANIFEST, formatManifest(manifest))
    this.#manifest = manifest
  }

  /**
   * Removes files that have been replaced, or that never counted. It takes only names that an
   * export gives: files that others put beside them stay.
   */
  async removeUnnamed(): Promise<void> {
    const named = new Set(this.#manifest.files.map(({ path }) => path))
    const paths = (await this.#list()).map(({ path }) => path)
    await this.#store.remove(paths.filter((path) => OUR_FILE.test(path) && !named.has(path)))
  }

  async #list() {
    const found = await Promise.all(OUR_FOLDERS.map((top) => this.#store.list(top)))
    return found.flat()
  }
}

async function readManifest(store: LakeStore): Promise<Manifest | undefined> {
  const { name } = store
  const text = await store.read(MANIFEST)
  if (text === undefined) {
    if (!(await store.isTaken())) return undefined
    throw refuse(
      `${name} has files but no ${MANIFEST}, so it is not an export of this program; ` +
        'name a place that is new, empty or one of its exports',
    )
  }
  const manifest = parseManifest(text)
  if (manifest !== undefined) return manifest
  throw refuse(
    `${name} has a ${MANIFEST} that this program did not write, or that a later version of it ` +
      'wrote; name another place, or use that version',
  )
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
      '; name a place of its own for each warehouse',
  )
}
