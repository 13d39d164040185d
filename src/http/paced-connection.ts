import type { Server } from 'node:http'
import { Socket } from 'node:net'
import { Duplex } from 'node:stream'

/**
 * Bytes of one connection that are read and parsed at once. Node by itself reads 64 KiB into a new
 * buffer each time. In a flood these buffers are collected too late; and every chunk of a body
 * costs the parser a callback and an object, however small it is: 64 KiB hold eleven thousand of
 * one byte, which take 16 ms.
 */
const SLICE_BYTES = 4 * 1024
/** All connections read into it, one after the other. */
const sharedSlice = Buffer.alloc(SLICE_BYTES)

/** After this time the event loop goes on to other things. */
const TURN_MS = 2

/**
 * Shares out the time for parsing input: the connection that had least of it comes first, so that
 * no delivery waits behind a flood.
 */
class Turns {
  readonly #waiting = new Set<PacedConnection>()
  #isPlanned = false

  await(connection: PacedConnection): void {
    this.#waiting.add(connection)
    if (this.#isPlanned) return
    this.#isPlanned = true
    setImmediate(() => {
      this.#take()
    })
  }

  #take(): void {
    this.#isPlanned = false
    const startedAt = performance.now()
    const connections = [...this.#waiting].sort((one, two) => one.costMs - two.costMs)
    let now = startedAt
    for (const connection of connections) {
      if (now - startedAt > TURN_MS) break
      this.#waiting.delete(connection)
      connection.pushSlice()
      const endedAt = performance.now()
      connection.costMs += endedAt - now
      now = endedAt
    }
    const [next] = this.#waiting
    if (next !== undefined) this.await(next)
  }
}

/** A connection whose input reaches the HTTP parser in slices, in turn. */
class PacedConnection extends Duplex {
  /** Time that its input has taken. */
  costMs = 0
  readonly #socket: Socket
  #slice: Buffer | undefined

  constructor(accepted: Socket, turns: Turns) {
    super({ allowHalfOpen: true })
    const socket = readInSlices(accepted, (slice) => {
      this.#slice = slice
      turns.await(this)
    })
    this.#socket = socket
    socket.once('end', () => this.push(null))
    socket.on('timeout', () => this.emit('timeout'))
    socket.once('error', (error) => this.destroy(error))
    socket.once('close', () => this.destroy())
  }

  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress
  }

  pushSlice(): void {
    const slice = this.#slice
    this.#slice = undefined
    if (!this.destroyed) this.push(slice)
  }

  /** The server times idle connections with it. */
  setTimeout(ms: number): this {
    this.#socket.setTimeout(ms)
    return this
  }

  /** The server ends a connection with it after the last answer. */
  destroySoon(): void {
    if (this.writable) this.end()
    if (this.writableFinished) this.destroy()
    else this.once('finish', () => this.destroy())
  }

  override _read(): void {
    if (this.#slice === undefined) this.#socket.resume()
  }

  override _write(
    chunk: Buffer,
    _encoding: BufferEncoding,
    done: (error?: Error | null) => void,
  ): void {
    this.#socket.write(chunk, done)
  }

  override _writev(
    chunks: readonly { readonly chunk: Buffer }[],
    done: (error?: Error | null) => void,
  ): void {
    this.#socket.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), done)
  }

  override _final(done: () => void): void {
    this.#socket.end(done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy()
    done(error)
  }
}

/**
 * The same connection, read in small pieces; after each it is paused. How a socket is read is fixed
 * when it is made, and the server makes it; so its handle moves to a new socket, and the old one
 * stays for the server's count of connections.
 */
function readInSlices(accepted: Socket, take: (slice: Buffer) => void): Socket {
  const { _handle: handle } = accepted as unknown as { readonly _handle: unknown }
  Object.assign(accepted, { _handle: null })
  const options = {
    handle,
    allowHalfOpen: true,
    onread: {
      buffer: sharedSlice,
      callback: (bytes: number) => {
        take(Buffer.from(sharedSlice.subarray(0, bytes)))
        return false
      },
    },
  }
  const socket = new Socket(options)
  socket.once('close', () => accepted.destroy())
  return socket
}

/** Gives every connection of a server its turn; `onConnection` gets what requests will name. */
export function paceConnections(server: Server, onConnection: (connection: Duplex) => void): void {
  const turns = new Turns()
  const listeners = server.listeners('connection')
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    const connection = new PacedConnection(socket, turns)
    onConnection(connection)
    for (const listener of listeners) listener.call(server, connection)
  })
}
