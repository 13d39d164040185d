import { PassThrough } from 'node:stream'
import type { ProcessLike } from '../../../src/commands/command-io.js'
import { runCli } from '../../../src/commands/program.js'

export interface CommandOutput {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** A stream that keeps what is written to it, and says what it is told to about itself. */
export function createSink(isTerminal: boolean): {
  readonly stream: NodeJS.WriteStream
  readonly text: () => string
} {
  const stream = new PassThrough()
  let text = ''
  stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const terminal = { isTTY: isTerminal, columns: 200, cursorTo: noop, clearLine: noop }
  // Of a terminal's stream only what the commands use.
  return {
    stream: Object.assign(stream, terminal) as unknown as NodeJS.WriteStream,
    text: () => text,
  }
}

function noop(): boolean {
  return true
}

/**
 * Runs one command line in this process. Only for command lines that end before they load settings:
 * help, version, usage errors.
 */
export async function runInProcess(...args: readonly string[]): Promise<CommandOutput> {
  const stdout = createSink(false)
  const stderr = createSink(false)
  const fake: ProcessLike = {
    stdout: stdout.stream,
    stderr: stderr.stream,
    cwd: () => '/',
    exit: () => {
      throw new Error('exit was called')
    },
    on: () => undefined,
    off: () => undefined,
  }
  const exitCode = await runCli(['node', 'tracking-sync', ...args], fake)
  return { exitCode, stdout: stdout.text(), stderr: stderr.text() }
}
