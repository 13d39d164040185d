import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { startFaultProxy, type FaultProxy } from '../../support/fault-proxy.js'
import { waitUntil } from '../../support/run-cli.js'

const closers: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** A server that answers each piece with the same bytes, and closes when its client does. */
async function startEcho(): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => socket.write(chunk))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/path`
}

async function openProxy(): Promise<FaultProxy> {
  const proxy = await startFaultProxy(await startEcho())
  closers.push(() => proxy.close())
  return proxy
}

interface Client {
  readonly socket: Socket
  readonly pieces: Buffer[]
  received(): number
  /** `end` for an orderly end of the stream, otherwise the error's code. */
  ending: Promise<string>
}

async function open(proxy: FaultProxy): Promise<Client> {
  const socket = connect(Number(new URL(proxy.url).port), '127.0.0.1')
  const pieces: Buffer[] = []
  socket.on('data', (chunk: Buffer) => pieces.push(chunk))
  const ending = new Promise<string>((resolve) => {
    socket.once('end', () => {
      resolve('end')
    })
    socket.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code ?? error.message)
    })
  })
  closers.push(() => Promise.resolve(socket.destroy()))
  await once(socket, 'connect')
  return { socket, pieces, received: () => Buffer.concat(pieces).length, ending }
}

async function secondsOf(client: Client, bytes: number): Promise<number> {
  const startedAt = performance.now()
  const before = client.received()
  client.socket.write(Buffer.alloc(bytes, 'x'))
  await waitUntil('all came back', () => client.received() === before + bytes)
  return (performance.now() - startedAt) / 1000
}

describe('the fault proxy, in front of an echo', () => {
  it('passes everything on unharmed, keeps the rest of the URL, and lets faults be taken back', async () => {
    const proxy = await openProxy()
    expect(new URL(proxy.url).pathname).toBe('/path')
    const client = await open(proxy)
    const fault = proxy.add({ kind: 'latency', ms: 10_000 })
    fault.remove()
    expect(await secondsOf(client, 300_000)).toBeLessThan(5)
    expect(proxy.connections).toBe(1)
  })

  it('delays by latency, in one direction or in both', async () => {
    const proxy = await openProxy()
    const client = await open(proxy)
    const there = proxy.add({ kind: 'latency', ms: 150 }, { direction: 'toTarget' })
    expect(await secondsOf(client, 10)).toBeGreaterThan(0.14)
    expect(there.played).toBe(1)
    proxy.add({ kind: 'latency', ms: 150 }, { direction: 'toClient' })
    expect(await secondsOf(client, 10)).toBeGreaterThan(0.29)
  })

  it('limits the bandwidth and slices', async () => {
    const proxy = await openProxy()
    const client = await open(proxy)
    proxy.add({ kind: 'slice', bytes: 16 }, { direction: 'toTarget' })
    const slow = { kind: 'bandwidth', bytesPerSecond: 1_000 } as const
    proxy.add(slow, { direction: 'toTarget' })
    expect(await secondsOf(client, 200)).toBeGreaterThan(0.19)
    expect(client.pieces.length).toBeGreaterThan(8)
  })

  it.each(['reset', 'close'] as const)(
    'cuts after so many bytes by a %s, as often as told',
    async (how) => {
      const proxy = await openProxy()
      const options = { direction: 'toClient', times: 1 } as const
      const fault = proxy.add({ kind: 'cut', how, afterBytes: 7 }, options)
      const client = await open(proxy)
      client.socket.write('0123456789')
      // Bytes that arrived just before a reset may hide it, or be lost by it.
      expect(await client.ending).toMatch(how === 'reset' ? /^(?:ECONNRESET|end)$/ : /^end$/)
      if (how === 'close') expect(client.received()).toBe(7)
      expect(client.received()).toBeLessThanOrEqual(7)
      expect(fault.played).toBe(1)
      expect(await secondsOf(await open(proxy), 10)).toBeLessThan(5)
    },
  )

  it('cuts when certain bytes go by: before they are passed on, or when their answer comes', async () => {
    const proxy = await openProxy()
    const when = (bytes: Buffer): boolean => bytes.includes('commit')
    for (const moment of ['before', 'answered'] as const) {
      const fault = proxy.add(
        { kind: 'cut', how: 'reset', when, moment },
        { direction: 'toTarget' },
      )
      const client = await open(proxy)
      client.socket.write('begin')
      await waitUntil('an answer', () => client.received() === 5)
      client.socket.write('commit')
      expect(await client.ending).toBe('ECONNRESET')
      expect(client.received()).toBe(5)
      expect(fault.played).toBe(1)
      fault.remove()
    }
  })

  it('loses what is sent after so many bytes while the connection stays open', async () => {
    const proxy = await openProxy()
    proxy.add({ kind: 'silence', afterBytes: 5 }, { direction: 'toTarget' })
    const client = await open(proxy)
    client.socket.write('12345')
    await waitUntil('an answer', () => client.received() === 5)
    client.socket.write('67890')
    client.socket.end()
    expect(await client.ending).toBe('end')
    expect(client.received()).toBe(5)
  })

  it('holds the end of a connection back', async () => {
    const proxy = await openProxy()
    proxy.add({ kind: 'slowClose', ms: 300 })
    const client = await open(proxy)
    const startedAt = performance.now()
    client.socket.end()
    expect(await client.ending).toBe('end')
    // There and back.
    expect(performance.now() - startedAt).toBeGreaterThan(550)
  })

  it('hangs and goes on, breaks everything, is down and comes back at the same address', async () => {
    const proxy = await openProxy()
    const client = await open(proxy)
    proxy.freeze()
    const frozen = await open(proxy)
    frozen.socket.write('1')
    client.socket.write('1')
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(client.received() + frozen.received()).toBe(0)
    await proxy.restore()
    await waitUntil('both answers', () => client.received() + frozen.received() === 2)
    proxy.reset()
    expect([await client.ending, await frozen.ending]).toEqual(['ECONNRESET', 'ECONNRESET'])
    await proxy.cut()
    await expect(open(proxy)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    await proxy.restore()
    expect(await secondsOf(await open(proxy), 10)).toBeLessThan(5)
    expect(proxy.accepted).toBe(3)
  })
})
