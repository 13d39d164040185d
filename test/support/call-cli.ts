import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { runCli } from '../../src/commands/program.js'

export interface CliCall {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs one command line in this process, with its settings from a `.env` in a directory of its own. */
export async function callCli(
  args: readonly string[],
  settings: Readonly<Record<string, string>>,
): Promise<CliCall> {
  const directory = await mkdtemp(join(tmpdir(), 'tracking-sync-cli-'))
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`)
  await writeFile(join(directory, '.env'), lines.join(''))
  const [stdout, stderr] = [collect(), collect()]
  try {
    const exitCode = await runCli(['node', 'tracking-sync', ...args], {
      stdout: stdout.stream,
      stderr: stderr.stream,
      cwd: () => directory,
      exit: (code) => {
        throw new Error(`exit(${code}) was called`)
      },
      on: () => undefined,
      off: () => undefined,
    })
    return { exitCode, stdout: stdout.text(), stderr: stderr.text() }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

function collect(): { readonly stream: NodeJS.WriteStream; readonly text: () => string } {
  const chunks: Buffer[] = []
  const stream = new PassThrough()
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  return {
    stream: Object.assign(stream, { isTTY: false }) as unknown as NodeJS.WriteStream,
    text: () => Buffer.concat(chunks).toString('utf8'),
  }
}
