import { PassThrough } from 'node:stream'

/** A stream that keeps what is written to it, and says what it is told to about itself. */
export function createSink(isTerminal: boolean): {
  readonly stream: NodeJS.WriteStream
  readonly text: () => string
} {
  const chunks: Buffer[] = []
  const stream = new PassThrough().on('data', (chunk: Buffer) => chunks.push(chunk))
  const terminal = { isTTY: isTerminal, columns: 200, cursorTo: noop, clearLine: noop }
  // Of a terminal's stream only what the commands use.
  return {
    stream: Object.assign(stream, terminal) as unknown as NodeJS.WriteStream,
    text: () => Buffer.concat(chunks).toString('utf8'),
  }
}

function noop(): boolean {
  return true
}
