import { open, rm } from 'node:fs/promises'
import type { Command } from 'commander'
import { ConfigError } from '../../base/errors.js'

export interface SecretOptions {
  readonly showSecret?: boolean
  readonly secretFile?: string
}

export function addSecretOptions(command: Command): Command {
  return command
    .option('--show-secret', 'Print the secret that the service told. Nothing else ever prints it.')
    .option(
      '--secret-file <path>',
      'Write the secret that the service told into a new file that only you can read.',
    )
}

interface SecretFile {
  write(secret: string): Promise<void>
  /** Closes it; a file that holds no secret is removed. */
  close(): Promise<void>
}

/**
 * Makes the file before the service is asked: a secret that is told once must not be lost because
 * the path is wrong. Throws ConfigError where that fails or the file exists.
 */
export async function openSecretFile(path: string): Promise<SecretFile> {
  const file = await open(path, 'wx', 0o600).catch((thrown: unknown) => {
    throw refusal(path, thrown)
  })
  let isWritten = false
  return {
    write: async (secret) => {
      await file.writeFile(`${secret}\n`)
      await file.sync()
      isWritten = true
    },
    close: async () => {
      await file.close()
      if (!isWritten) await rm(path, { force: true })
    },
  }
}

function refusal(path: string, thrown: unknown): ConfigError {
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'unknown error'
  const problem =
    code === 'EEXIST'
      ? 'exists already and may hold a secret in use; name a new file'
      : `cannot be written (${code}); name a file in a directory you can write to`
  return new ConfigError([{ setting: `--secret-file ${path}`, problem }], { cause: thrown })
}
