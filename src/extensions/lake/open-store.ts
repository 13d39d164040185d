import { resolve } from 'node:path'
import { BucketStore, parseBucketAddress, type BucketOptions } from './bucket-store.js'
import { folderStore } from './folder-store.js'
import { refuse, type LakeStore } from './lake-store.js'

export interface StoreOptions extends BucketOptions {
  /** The start of a relative folder name. */
  readonly workingDirectory: string
}

/**
 * The place that `--out` names: a folder or `s3://…`. Throws ConfigError for any other address. Reads
 * and writes nothing yet.
 */
export async function openStore(out: string, options: StoreOptions): Promise<LakeStore> {
  const address = parseBucketAddress(out)
  if (address !== undefined) return BucketStore.connect(out, address, options)
  const [, scheme] = /^([a-z][a-z0-9+.-]+):\/\//i.exec(out) ?? []
  if (scheme === undefined) return folderStore(out, resolve(options.workingDirectory, out))
  throw refuse(
    `is ${out}, and an export goes into a folder or to s3://; write it into a folder, and copy ` +
      `that to ${scheme}:// as docs/lake.md shows, the manifest last`,
  )
}
