import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'

/** Input of one connection that is parsed before the other connections have their turn. */
const TURN_BYTES = 1024

/** After the last answer a sender may go on this long: one that is cut off may never see it. */
const LINGER_MS = 1_000
/** In a flood the oldest is cut off at once: connections that linger would keep others out. */
const MOST_LINGERING = 50

/**
 * A connection whose input reaches the HTTP parser in small turns. Node by itself hands over 64 KiB
 * at once, and each chunk of a body costs a callback, however small it is: 64 KiB hold eleven
 * thousand of one byte, and deliveries of others wait meanwhile.
 */
export function inTurns(socket: Socket): Duplex {
  return new Turns(socket)
}

/** Of all servers of this process, the oldest first. */
const lingering = new Set<Duplex>()

class Turns extends Duplex {
  readonly #socket: Socket

  constructor(socket: Socket) {
    super({ allowHalfOpen: true })
    this.#socket = socket
    socket.once('end', () => this.push(null))
    socket.on('timeout', () => this.emit('timeout'))
    socket.once('error', (error) => this.destroy(error))
    socket.once('close', () => this.destroy())
  }

  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress
  }

  /** The server times idle connections with it. */
  setTimeout(ms: number): this {
    this.#socket.setTimeout(ms)
    return this
  }

  /** The server ends a connection with it after the last answer. Later input is not parsed. */
  destroySoon(): void {
    this.pause()
    this.end(() => {
      // The client left before its answer was sent: no event would remove it from the lingering
      // ones.
      if (this.destroyed) return
      this.#socket.removeAllListeners('readable').resume()
      this.#socket.once('end', () => this.destroy())
      const timer = setTimeout(() => {
        this.destroy()
      }, LINGER_MS)
      lingering.add(this)
      this.once('close', () => {
        clearTimeout(timer)
      })
      const [oldest] = lingering
      if (lingering.size > MOST_LINGERING) oldest?.destroy()
    })
  }

  override _read(): void {
    setImmediate(() => {
      const socket = this.#socket
      const part: unknown = socket.read(Math.min(TURN_BYTES, socket.readableLength) || undefined)
      if (part === null)
        socket.once('readable', () => {
          this._read()
        })
      else this.push(part)
    })
  }

  override _write(chunk: Buffer, _encoding: unknown, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done)
  }

  override _final(done: () => void): void {
    this.#socket.end(done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    lingering.delete(this)
    this.#socket.destroy()
    done(error)
  }
}
