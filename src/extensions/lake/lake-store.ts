import { ConfigError } from '../../base/errors.js'

/** A file below the place of a lake. */
export interface StoredFile {
  /** The path from there, with `/`. */
  readonly path: string
  readonly bytes: number
}

/** A file that is complete, in the work folder. */
export interface UnplacedFile {
  readonly path: string
  readonly workPath: string
}

/** The folder of files that are not complete yet. */
export interface WorkFolder {
  /** The place as the user wrote it. */
  readonly name: string
  readonly pathOf: (name: string) => string
}

/** The place of a lake: a folder or a bucket. Only one export may write there at a time. */
export interface LakeStore {
  /** The place as the user wrote it. */
  readonly name: string
  readonly work: WorkFolder
  /** The text at a path; undefined where nothing is. */
  readonly read: (path: string) => Promise<string | undefined>
  /** Whether files of anybody else may be there; asked of a place without a manifest. */
  readonly isTaken: () => Promise<boolean>
  /** Makes the place and its work folder ready. Not before the place is known to be ours. */
  readonly open: () => Promise<void>
  /** All files whose path begins with `top`, a folder. */
  readonly list: (top: string) => Promise<StoredFile[]>
  /** Puts files into their places. Once it returns they stay, even if the export fails. */
  readonly place: (files: readonly UnplacedFile[]) => Promise<void>
  /** Puts one text in place of another, at once and whole. */
  readonly replace: (path: string, text: string) => Promise<void>
  readonly remove: (paths: readonly string[]) => Promise<void>
  /** Removes the work folder, where `open` was called: else it is another's. Idempotent. */
  readonly close: () => Promise<void>
}

export function refuse(problem: string, cause?: unknown): ConfigError {
  return new ConfigError([{ setting: '--out', problem }], cause === undefined ? {} : { cause })
}

/** Runs `work`. An error of the disk becomes one about the folder, named as the user wrote it. */
export async function onDisk<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException
    if (thrown instanceof ConfigError || code === undefined) throw thrown
    throw refuse(
      `${name} cannot be used (${code}); free or mend it, or name another folder`,
      thrown,
    )
  }
}
