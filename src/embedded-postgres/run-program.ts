import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { EmbeddedDatabaseError } from '../base/errors.js'
import type { Account } from './os-account.js'

export interface RunProgramOptions {
  /** Must be a directory the account can enter: PostgreSQL's programs return to it. */
  readonly directory: string
  readonly account: Account | undefined
  /** An open file that takes the output; without it the output is returned. */
  readonly outputFile?: number
}

export interface ProgramResult {
  readonly exitCode: number | null
  readonly output: string
}

/**
 * Runs one of PostgreSQL's programs to its end. The child gets a fixed environment: ours holds
 * secrets, and variables such as PGDATA or PGOPTIONS would change what the program does.
 */
export async function runProgram(
  program: string,
  programArguments: readonly string[],
  options: RunProgramOptions,
): Promise<ProgramResult> {
  const { directory, account, outputFile } = options
  return new Promise((resolve, reject) => {
    const child = spawn(program, programArguments, {
      cwd: directory,
      env: { LC_ALL: 'C', TZ: 'UTC' },
      // A server keeps these handles. A file, unlike a pipe, does not hold this process alive.
      stdio: ['ignore', outputFile ?? 'pipe', outputFile ?? 'pipe'],
      windowsHide: true,
      ...(account === undefined ? {} : { uid: account.uid, gid: account.gid }),
    })
    let output = ''
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.on('error', (error: NodeJS.ErrnoException) => {
      reject(explainSpawnError(program, account, error))
    })
    child.on('close', (exitCode) => {
      resolve({ exitCode, output })
    })
  })
}

function explainSpawnError(
  program: string,
  account: Account | undefined,
  error: NodeJS.ErrnoException,
): EmbeddedDatabaseError {
  // The kernel answers ENOENT for a file that is there when the loader it asks for is not.
  if (error.code === 'ENOENT' && process.platform === 'linux' && existsSync(program)) {
    return new EmbeddedDatabaseError(
      'The embedded PostgreSQL is built for glibc and has no musl build (Alpine Linux); ' +
        'set DATABASE_URL to a PostgreSQL server, or use an image based on glibc.',
      { cause: error },
    )
  }
  if (error.code === 'EPERM' && account !== undefined) {
    return new EmbeddedDatabaseError(
      'PostgreSQL refuses to run as root, and this process may not switch to the account ' +
        `'${account.name}'; run as an ordinary user, or set DATABASE_URL.`,
      { cause: error },
    )
  }
  return new EmbeddedDatabaseError(
    `${program} cannot be run (${error.code ?? error.message}); install the packages again, ` +
      'or set DATABASE_URL to a PostgreSQL server.',
    { cause: error },
  )
}
