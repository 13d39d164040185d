import { readFile, stat } from 'node:fs/promises'
import { EmbeddedDatabaseError } from '../base/errors.js'

/**
 * What can be told from the output of PostgreSQL's programs (they run in English), or undefined.
 */
export function recognizeFailure(
  output: string,
): 'port_taken' | 'old_processes' | 'shared_memory' | 'disk_full' | 'read_only' | undefined {
  if (/could not bind .*(in use|10013|10048)/i.test(output)) return 'port_taken'
  if (/pre-existing shared memory block/i.test(output)) return 'old_processes'
  // Before the disk: a small /dev/shm is also reported as "No space left on device".
  if (/shared memory.*(No space left|Cannot allocate|No such file)/i.test(output)) {
    return 'shared_memory'
  }
  if (/No space left on device|Disk quota exceeded|disk full/i.test(output)) return 'disk_full'
  if (/Read-only file system/i.test(output)) return 'read_only'
  return undefined
}

export async function logSize(logFile: string): Promise<number> {
  return stat(logFile).then(
    ({ size }) => size,
    () => 0,
  )
}

/**
 * A server that cannot write its log of transactions ends, and its clients see a refused
 * connection.
 */
export async function explainServerLog(
  logFile: string,
  from: number,
  directory: string,
): Promise<EmbeddedDatabaseError | undefined> {
  const output = await readFile(logFile).catch(() => Buffer.alloc(0))
  const failure = recognizeFailure(output.subarray(Math.min(from, output.length)).toString('utf8'))
  if (failure === 'disk_full') return diskFull(directory, {})
  return failure === 'read_only' ? diskReadOnly(directory, {}) : undefined
}

/** `task` completes "PostgreSQL could not …"; `logFile` is named when nothing better is known. */
export function explainProgramFailure(
  task: string,
  output: string,
  directory: string,
  logFile?: string,
): EmbeddedDatabaseError {
  const context = { output: output.slice(-2_000) }
  switch (recognizeFailure(output)) {
    case 'disk_full':
      return diskFull(directory, { context })
    case 'read_only':
      return diskReadOnly(directory, { context })
    case 'shared_memory':
      return new EmbeddedDatabaseError(
        `PostgreSQL could not ${task}: the system gives it too little shared memory; in a container raise it (--shm-size=256m), or set DATABASE_URL.`,
        { context },
      )
    case 'old_processes':
      return new EmbeddedDatabaseError(
        `PostgreSQL could not ${task}: processes of a killed server still hold ${directory}; end the "postgres: tracking-sync" processes and try again.`,
        { context },
      )
    case 'port_taken':
    case undefined: {
      const fatal = output.split('\n').filter((line) => /\b(FATAL|PANIC|error):/.test(line))
      const reason = (fatal.at(-1) ?? output.trim().split('\n').at(-1) ?? '').trim()
      const seen = logFile === undefined ? '' : ` The log is ${logFile}.`
      return new EmbeddedDatabaseError(
        `PostgreSQL could not ${task}: ${reason || 'it said nothing'}.${seen} Mend that, or set DATABASE_URL to another server.`,
        { context },
      )
    }
  }
}

/** An error of the file system as one of ours; anything else unchanged. */
export function explainFileError(thrown: unknown, directory: string): unknown {
  if (thrown instanceof EmbeddedDatabaseError || !(thrown instanceof Error)) return thrown
  const { code, path } = thrown as NodeJS.ErrnoException
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return new EmbeddedDatabaseError(
        `The embedded database needs to write to ${path ?? directory} and may not (${code}); run as the user who made it, or set TRACKING_HOME to a directory of your own.`,
        { cause: thrown },
      )
    case 'ENOTDIR':
    case 'EEXIST':
      return new EmbeddedDatabaseError(
        `The embedded database needs the directory ${directory}, but a file is in its way (${path ?? directory}); set TRACKING_HOME to a directory.`,
        { cause: thrown },
      )
    case 'EROFS':
      return diskReadOnly(directory, { cause: thrown })
    case 'ENOSPC':
    case 'EDQUOT':
      return diskFull(directory, { cause: thrown })
    case undefined:
    default:
      return thrown
  }
}

function diskFull(
  directory: string,
  options: { cause?: unknown; context?: Readonly<Record<string, unknown>> },
): EmbeddedDatabaseError {
  return new EmbeddedDatabaseError(
    `The disk that holds ${directory} is full; free some space, or set TRACKING_HOME to a directory on another disk.`,
    options,
  )
}

function diskReadOnly(
  directory: string,
  options: { cause?: unknown; context?: Readonly<Record<string, unknown>> },
): EmbeddedDatabaseError {
  return new EmbeddedDatabaseError(
    `The disk that holds ${directory} is read-only, and the embedded database must write; mount it for writing, or set TRACKING_HOME to a directory on another disk.`,
    options,
  )
}
