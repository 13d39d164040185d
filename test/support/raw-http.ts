import { once } from 'node:events'
import { connect } from 'node:net'

/** A connection on which a test sends what no HTTP library would. */
export async function openRaw(httpPort: number, text: string | Buffer = '') {
  const socket = connect(httpPort, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  // A reset is one of the ways in which the other end may close.
  socket.on('error', () => undefined)
  const closing = new Promise((resolve) => socket.once('close', resolve))
  await once(socket, 'connect')
  const received = (): string => Buffer.concat(chunks).toString('latin1')
  if (text.length > 0) socket.write(text)
  return {
    socket,
    /** Everything that came back so far. */
    received,
    /** The same once the other end has closed; fails after the deadline. */
    closed: async (deadlineMs = 15_000): Promise<string> => {
      const timer = setTimeout(() => {
        socket.destroy(new Error(`still open after ${deadlineMs} ms: ${received()}`))
      }, deadlineMs)
      const isOurs = new Promise<never>((_, reject) => socket.once('error', reject))
      isOurs.catch(() => undefined)
      await closing
      clearTimeout(timer)
      if (socket.errored?.message.startsWith('still open')) throw socket.errored
      return received()
    },
  }
}

/** The status codes of all answers in a text. */
export function statusesOf(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
}
