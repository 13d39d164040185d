import { fstatSync, writeSync } from 'node:fs'
import { Writable } from 'node:stream'

/**
 * The stream to print to. Node's own stream for files calls it done when the system wrote a part,
 * so what no longer fits on a disk is lost without an error. This one writes on until all of it is
 * written or the system says why not, as the streams of pipes and terminals do.
 */
export function completeOutput(
  stream: NodeJS.WriteStream & { readonly fd: number },
): NodeJS.WriteStream {
  const { fd, isTTY } = stream
  const kind = fstatSync(fd)
  if (isTTY || kind.isFIFO() || kind.isSocket()) return stream
  const whole = new Writable({
    decodeStrings: true,
    // At once, as Node's own does, so that output keeps its place among the log lines.
    write(chunk: Buffer, _encoding, done) {
      try {
        for (let at = 0; at < chunk.length;) at += writeSync(fd, chunk, at)
        done()
      } catch (thrown) {
        done(thrown as Error)
      }
    },
  })
  return Object.assign(whole, { fd, isTTY: false }) as unknown as NodeJS.WriteStream
}

/** The reader went away, as `| head` does: it has what it wanted. */
const READER_LEFT: readonly (string | undefined)[] = ['EPIPE', 'ECONNRESET']

/**
 * Watches a stream. Call the result at the end: it waits for the last byte and gives the failure.
 */
export function watchOutput(stream: NodeJS.WriteStream): () => Promise<Error | undefined> {
  let failure: Error | undefined
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (!READER_LEFT.includes(error.code)) failure ??= error
  })
  return async () => {
    await new Promise<void>((resolve) => {
      stream.write('', () => {
        resolve()
      })
    })
    return failure
  }
}
