import { readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { EmbeddedDatabaseError } from '../../base/errors.js'

/**
 * The failure in the output of PostgreSQL's programs, which run in English; undefined when unclear.
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
  if (failure === 'disk_full') return diskFull(directory)
  return failure === 'read_only' ? diskReadOnly(directory) : undefined
}

/** `task` completes "PostgreSQL could not …"; `logFile` is named when nothing better is known. */
export function explainProgramFailure(
  task: string,
  output: string,
  directory: string,
  logFile?: string,
): EmbeddedDatabaseError {
  const options = { context: { output: output.slice(-2_000) } }
  const fail = (text: string): EmbeddedDatabaseError =>
    new EmbeddedDatabaseError(`PostgreSQL could not ${task}: ${text}`, options)
  switch (recognizeFailure(output)) {
    case 'disk_full':
      return diskFull(directory, options)
    case 'read_only':
      return diskReadOnly(directory, options)
    case 'shared_memory':
      return fail(
        'the system gives it too little shared memory; in a container raise it ' +
          '(--shm-size=256m), or set DATABASE_URL.',
      )
    case 'old_processes':
      return fail(
        `processes of a killed server still hold ${directory}; end the ` +
          '"postgres: tracking-sync" processes and try again.',
      )
    case 'port_taken':
    case undefined: {
      const fatal = output.split('\n').filter((line) => /\b(FATAL|PANIC|error):/.test(line))
      const reason = (fatal.at(-1) ?? output.trim().split('\n').at(-1) ?? '').trim()
      const seen = logFile === undefined ? '' : ` The log is ${logFile}.`
      return fail(
        `${reason || 'it said nothing'}.${seen} Fix that, or set DATABASE_URL to another server.`,
      )
    }
  }
}

/** An error of the file system as one of ours; anything else unchanged. */
export function explainFileError(thrown: unknown, directory: string): unknown {
  if (thrown instanceof EmbeddedDatabaseError || !(thrown instanceof Error)) return thrown
  const { code, path = directory } = thrown as NodeJS.ErrnoException
  const options = { cause: thrown }
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return new EmbeddedDatabaseError(
        `The embedded database needs to write to ${path} and may not (${code}); ` +
          'run as the user who made it, or set TRACKING_HOME to a directory of your own.',
        options,
      )
    case 'ENOTDIR':
    case 'EEXIST':
      return new EmbeddedDatabaseError(
        `The embedded database needs the directory ${directory}, but a file is in its way ` +
          `(${path}); set TRACKING_HOME to a directory.`,
        options,
      )
    case 'EROFS':
      return diskReadOnly(directory, options)
    case 'ENOSPC':
    case 'EDQUOT':
      return diskFull(directory, options)
    case undefined:
    default:
      return thrown
  }
}

type ErrorOptions = ConstructorParameters<typeof EmbeddedDatabaseError>[1]

function diskFull(directory: string, options?: ErrorOptions): EmbeddedDatabaseError {
  return new EmbeddedDatabaseError(
    `The disk that holds ${directory} is full; free some space, or move ${dirname(directory)} ` +
      'to another disk and set TRACKING_HOME to its new place.',
    options,
  )
}

function diskReadOnly(directory: string, options?: ErrorOptions): EmbeddedDatabaseError {
  return new EmbeddedDatabaseError(
    `The disk that holds ${directory} is read-only, and the embedded database must write; ` +
      'mount it for writing, or set TRACKING_HOME to a directory on another disk.',
    options,
  )
}
