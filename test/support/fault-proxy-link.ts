import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AddedFault, Direction, LinkFault } from './fault-proxy.js'

/** One connection through the proxy: two sockets, and a pump for each direction. */
export interface Link {
  /** Resolves when both sockets are closed. */
  readonly closed: Promise<void>
  freeze(): void
  thaw(): void
  destroy(): void
  reset(): void
}

type Playing<Kind extends LinkFault['kind']> = AddedFault & {
  readonly fault: Extract<LinkFault, { kind: Kind }>
}

type Cut = Playing<'cut'>

/** `faults` is read again for each piece, so that a fault added later applies at once. */
export function createLink(near: Socket, far: Socket, faults: readonly AddedFault[]): Link {
  const link = new ProxyLink(near, far, faults)
  link.start()
  return link
}

class ProxyLink implements Link {
  readonly closed: Promise<void>
  readonly #near: Socket
  readonly #far: Socket
  readonly #faults: readonly AddedFault[]
  /** Faults that this connection has met; each counts once. */
  readonly #met = new Set<AddedFault>()
  readonly #over = new AbortController()
  #awaitingAnswer: { readonly cut: Cut; readonly direction: Direction } | undefined
  #gate: Promise<void> = Promise.resolve()
  #openGate = (): void => undefined

  constructor(near: Socket, far: Socket, faults: readonly AddedFault[]) {
    this.#near = near
    this.#far = far
    this.#faults = faults
    this.closed = Promise.all([closing(near), closing(far)]).then(() => undefined)
  }

  start(): void {
    for (const socket of [this.#near, this.#far]) {
      socket.setNoDelay(true)
      socket.on('error', () => {
        this.destroy()
      })
    }
    void this.#pump(this.#near, this.#far, 'toTarget')
    void this.#pump(this.#far, this.#near, 'toClient')
  }

  freeze(): void {
    this.thaw()
    this.#gate = new Promise((resolve) => (this.#openGate = resolve))
  }

  thaw(): void {
    this.#openGate()
    this.#gate = Promise.resolve()
  }

  destroy(): void {
    this.#end((socket) => socket.destroy())
  }

  reset(): void {
    this.#end(resetNow)
  }

  #end(how: (socket: Socket) => unknown): void {
    this.#over.abort()
    this.thaw()
    how(this.#near)
    how(this.#far)
  }

  async #pump(from: Socket, to: Socket, direction: Direction): Promise<void> {
    let passed = 0
    try {
      for await (const chunk of piecesOf(from)) {
        for (const piece of this.#slice(chunk, direction)) {
          await this.#gate
          if (this.#over.signal.aborted) return
          await this.#delay(piece.length, direction)
          if (!(await this.#pass(piece, passed, to, direction))) return
          passed += piece.length
        }
      }
      await this.#gate
      const slow = this.#find('slowClose', direction)
      if (slow !== undefined) await this.#wait(play(slow).ms)
      to.end()
    } catch {
      // The other end, or this proxy, has broken the connection.
      this.destroy()
    }
  }

  #slice(chunk: Buffer, direction: Direction): Buffer[] {
    const found = this.#find('slice', direction)
    if (found === undefined) return [chunk]
    const { bytes } = play(found)
    const pieces: Buffer[] = []
    for (let at = 0; at < chunk.length; at += bytes) pieces.push(chunk.subarray(at, at + bytes))
    return pieces
  }

  async #delay(bytes: number, direction: Direction): Promise<void> {
    const latency = this.#find('latency', direction)
    if (latency !== undefined) {
      const { ms, jitterMs = 0 } = play(latency)
      await this.#wait(ms + (Math.random() * 2 - 1) * jitterMs)
    }
    const bandwidth = this.#find('bandwidth', direction)
    if (bandwidth !== undefined) await this.#wait((bytes * 1000) / play(bandwidth).bytesPerSecond)
  }

  /** False when the connection is over. */
  async #pass(piece: Buffer, passed: number, to: Socket, direction: Direction): Promise<boolean> {
    const answered = this.#awaitingAnswer
    if (answered !== undefined && answered.direction !== direction) return this.#cut(answered.cut)
    const silence = this.#find('silence', direction)
    if (silence !== undefined && passed + piece.length > (silence.fault.afterBytes ?? 0)) {
      this.#meet(silence)
      return true
    }
    const cuts = this.#inForce('cut', direction)
    const told = cuts.find(({ fault }) => fault.when?.(piece) === true)
    if (told !== undefined) return this.#passTold(piece, told, to, direction)
    const cut = cuts.find(({ fault }) => fault.afterBytes !== undefined)
    const leftBytes = (cut?.fault.afterBytes ?? Infinity) - passed
    await write(to, piece.length > leftBytes ? piece.subarray(0, Math.max(0, leftBytes)) : piece)
    return cut === undefined || piece.length < leftBytes || this.#cut(cut)
  }

  async #passTold(piece: Buffer, cut: Cut, to: Socket, direction: Direction): Promise<boolean> {
    const { moment = 'after' } = cut.fault
    if (moment === 'before') return this.#cut(cut)
    if (moment === 'answered') this.#awaitingAnswer = { cut, direction }
    await write(to, piece)
    return moment === 'answered' || this.#cut(cut)
  }

  #cut(cut: Cut): false {
    this.#meet(cut)
    if (cut.fault.how === 'reset') this.reset()
    // The other end must still read the bytes that were passed on.
    else
      this.#end((socket) => {
        socket.destroySoon()
      })
    return false
  }

  #meet(added: AddedFault): void {
    if (this.#met.has(added)) return
    this.#met.add(added)
    added.played += 1
  }

  #find<Kind extends LinkFault['kind']>(
    kind: Kind,
    direction: Direction,
  ): Playing<Kind> | undefined {
    return this.#inForce(kind, direction)[0]
  }

  #inForce<Kind extends LinkFault['kind']>(kind: Kind, direction: Direction): Playing<Kind>[] {
    const found = this.#faults.filter(
      (added) =>
        added.fault.kind === kind &&
        (added.direction ?? direction) === direction &&
        (added.played < added.times || this.#met.has(added)),
    )
    return found as Playing<Kind>[]
  }

  async #wait(ms: number): Promise<void> {
    await sleep(Math.max(0, ms), undefined, { signal: this.#over.signal })
  }
}

function play<Fault extends LinkFault>(added: AddedFault & { readonly fault: Fault }): Fault {
  added.played += 1
  return added.fault
}

/** Its end leaves the socket open for the other direction. */
function piecesOf(socket: Socket): AsyncIterable<Buffer> {
  return socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>
}

/**
 * `resetAndDestroy` sends an orderly end before its reset, which is then all that the other end
 * sees.
 */
function resetNow(socket: Socket): void {
  Object.assign(socket, { resetAndClosing: true })
  socket.destroy()
}

function closing(socket: Socket): Promise<void> {
  return new Promise((resolve) =>
    socket.once('close', () => {
      resolve()
    }),
  )
}

function write(to: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    if (bytes.length === 0) resolve()
    else
      to.write(bytes, (error) => {
        if (error) reject(error)
        else resolve()
      })
  })
}
