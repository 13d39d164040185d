import type { S3 } from '@aws-sdk/client-s3'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Sleep } from '../../base/retry.js'
import {
  onDisk,
  refuse,
  type LakeStore,
  type StoredFile,
  type UnplacedFile,
  type WorkFolder,
} from './lake-store.js'
import { refusePackage } from './missing-package.js'

/** The place of a lake in an object store. */
export interface BucketAddress {
  readonly bucket: string
  /** The beginning of every key, with a `/` at its end; empty for a whole bucket. */
  readonly prefix: string
}

const ADDRESS = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(\/[^?#]*)?$/

/**
 * Reads `s3://bucket/folder`. Undefined for another kind of address or a folder; throws ConfigError
 * for half of one.
 */
export function parseBucketAddress(out: string): BucketAddress | undefined {
  if (!/^s3:\/\//i.test(out)) return undefined
  const [, bucket, rest = ''] = ADDRESS.exec(out) ?? []
  if (bucket === undefined) throw refuse(`is ${out}; it must be s3://<bucket>/<folder>`)
  const folders = rest.split('/').filter((one) => one !== '')
  return { bucket, prefix: folders.map((one) => `${one}/`).join('') }
}

export interface BucketOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  readonly sleep: Sleep
}

/** A file that did not arrive is sent again, after a second and after two. */
const MOST_TRIES = 3

/**
 * A lake in a bucket of S3, or of a store with the same interface. Keys, region, role and address
 * of the store are found as the tools of AWS find them: environment, profile, machine. The work
 * folder is a temporary one of this machine, always of the same name, so that the next export
 * removes the leftovers of a killed one. A file has its name at once, and counts when the manifest
 * names it.
 */
export class BucketStore implements LakeStore {
  readonly name: string
  readonly work: WorkFolder
  readonly #client: S3
  readonly #address: BucketAddress
  readonly #options: BucketOptions
  #isOpen = false

  private constructor(name: string, address: BucketAddress, options: BucketOptions, client: S3) {
    const digest = createHash('sha256').update(JSON.stringify(address)).digest('hex')
    const folder = join(tmpdir(), `tracking-sync-export-${digest.slice(0, 16)}`)
    this.name = name
    this.work = { name: folder, pathOf: (one) => join(folder, one) }
    this.#client = client
    this.#address = address
    this.#options = options
  }

  /**
   * `name` is the place as the user wrote it. Throws ConfigError where the library is not
   * installed.
   */
  static async connect(
    name: string,
    address: BucketAddress,
    options: BucketOptions,
  ): Promise<BucketStore> {
    return new BucketStore(name, address, options, await makeClient(options.env))
  }

  async open(): Promise<void> {
    this.#isOpen = true
    await this.#removeWork()
    await onDisk(this.work.name, () => mkdir(this.work.name, { mode: 0o700 }))
  }

  async read(path: string): Promise<string | undefined> {
    return this.#ask(async (at, signal) => {
      try {
        const { Body } = await this.#client.getObject(at(path), signal)
        return await Body?.transformToString()
      } catch (thrown) {
        if (nameOf(thrown) === 'NoSuchKey') return undefined
        throw thrown
      }
    })
  }

  async isTaken(): Promise<boolean> {
    const { bucket: Bucket, prefix: Prefix } = this.#address
    const found = await this.#ask((_, signal) =>
      this.#client.listObjectsV2({ Bucket, Prefix, MaxKeys: 2 }, signal),
    )
    // A folder that was made by hand is an object with the name of the prefix.
    return (found.Contents ?? []).some(({ Key }) => Key !== Prefix)
  }

  async list(top: string): Promise<StoredFile[]> {
    const { bucket: Bucket, prefix } = this.#address
    const files: StoredFile[] = []
    let after: string | undefined
    do {
      const input = { Bucket, Prefix: `${prefix}${top}/`, ContinuationToken: after }
      const page = await this.#ask((_, signal) => this.#client.listObjectsV2(input, signal))
      for (const { Key = '', Size = 0 } of page.Contents ?? []) {
        files.push({ path: Key.slice(prefix.length), bytes: Size })
      }
      after = page.NextContinuationToken
    } while (after !== undefined)
    return files
  }

  async place(files: readonly UnplacedFile[]): Promise<void> {
    for (const file of files) {
      const { size } = await onDisk(this.work.name, () => stat(file.workPath))
      await this.#placeOne(file, size)
      await onDisk(this.work.name, () => rm(file.workPath))
    }
  }

  async replace(path: string, text: string): Promise<void> {
    await this.#ask((at, signal) =>
      this.#client.putObject({ ...at(path), Body: text, ContentType: 'application/json' }, signal),
    )
  }

  async remove(paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      await this.#ask((at, signal) => this.#client.deleteObject(at(path), signal))
    }
  }

  async close(): Promise<void> {
    this.#client.destroy()
    if (this.#isOpen) await this.#removeWork()
  }

  async #removeWork(): Promise<void> {
    await onDisk(this.work.name, () => rm(this.work.name, { recursive: true, force: true }))
  }

  /** The library repeats what it can read again, and a stream it cannot. */
  async #placeOne({ path, workPath }: UnplacedFile, size: number): Promise<void> {
    await this.#ask(async (at, signal) => {
      for (let tries = 1; ; tries += 1) {
        const Body = createReadStream(workPath)
        try {
          return await this.#client.putObject({ ...at(path), Body, ContentLength: size }, signal)
        } catch (thrown) {
          if (tries === MOST_TRIES || !isWorthAnotherTry(thrown)) throw thrown
          await this.#options.sleep(tries * 1_000, this.#options.signal)
        } finally {
          Body.destroy()
        }
      }
    })
  }

  async #ask<Result>(
    work: (
      at: (path: string) => { readonly Bucket: string; readonly Key: string },
      options: { readonly abortSignal: AbortSignal },
    ) => Promise<Result>,
  ): Promise<Result> {
    const { bucket: Bucket, prefix } = this.#address
    const { signal: abortSignal } = this.#options
    try {
      return await work((path) => ({ Bucket, Key: prefix + path }), { abortSignal })
    } catch (thrown) {
      abortSignal.throwIfAborted()
      throw refuse(`${this.name} ${explain(thrown)}`, thrown)
    }
  }
}

function isWorthAnotherTry(thrown: unknown): boolean {
  const status = statusOf(thrown)
  return status === undefined || status >= 500 || status === 429
}

/** The advice for each error, by the name that AWS gives it. */
const FIXES: Readonly<Record<string, string>> = {
  NoSuchBucket: 'has no such bucket; make it first',
  CredentialsProviderError:
    'needs keys; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or give this ' +
    'machine a role',
  PermanentRedirect: 'is in another region; set AWS_REGION to that of the bucket',
  AuthorizationHeaderMalformed: 'is in another region; set AWS_REGION to that of the bucket',
  InvalidAccessKeyId: 'is not open to this key; look at AWS_ACCESS_KEY_ID',
  SignatureDoesNotMatch: 'is not open to this key; look at AWS_SECRET_ACCESS_KEY',
  EntityTooLarge: 'takes no file as large as this; export into a folder',
}

function explain(thrown: unknown): string {
  const name = nameOf(thrown)
  const known = FIXES[name]
  if (known !== undefined) return `${known} (${name})`
  if (name === 'Error' && (thrown as Error).message === 'Region is missing') {
    return 'needs AWS_REGION, the region of the bucket'
  }
  const status = statusOf(thrown)
  if (status === 403) {
    return (
      `is not open to these keys (${name}); allow them s3:ListBucket of the bucket, and ` +
      's3:GetObject, s3:PutObject and s3:DeleteObject below the folder'
    )
  }
  const code = (thrown as NodeJS.ErrnoException).code ?? name
  return `cannot be used now (${code}); run it again`
}

function nameOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.name : ''
}

/** The HTTP status; undefined where nothing answered. */
function statusOf(thrown: unknown): number | undefined {
  return (thrown as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode
}

const silent = (): void => undefined

async function makeClient(env: BucketOptions['env']): Promise<S3> {
  // The library would announce on standard error when it drops this Node; package.json names ours.
  // eslint-disable-next-line no-restricted-syntax -- the library reads it, and nothing else
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'
  const library = await import('@aws-sdk/client-s3').catch((cause: unknown) =>
    refusePackage('@aws-sdk/client-s3', 'to s3:// ', cause),
  )
  const isElsewhere = (env.AWS_ENDPOINT_URL_S3 ?? env.AWS_ENDPOINT_URL ?? '') !== ''
  return new library.S3({
    logger: { trace: silent, debug: silent, info: silent, warn: silent, error: silent },
    requestHandler: { connectionTimeout: 10_000, socketTimeout: 60_000 },
    // Other stores do not support the checksums that AWS has had since 2024.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // Other stores have one host for all buckets, and mostly do without regions.
    ...(isElsewhere && { forcePathStyle: true, region: env.AWS_REGION ?? 'us-east-1' }),
  })
}
