import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { inTurns } from '../../../src/http/turns.js'

it.each([0, 51])('of lingering ones the oldest are cut, %i', { tags: ['JD5'] }, async (broken) => {
  // Nothing is cut off because its time is up, however slow the machine is.
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  const clients: Socket[] = []
  const closed: number[] = []
  let answered = 0
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const connection = inTurns(socket)
    const at = answered - broken
    answered += 1
    if (at >= 0) connection.once('close', () => closed.push(at))
    // As the HTTP server ends a connection; the client never ends its side.
    ;(connection as typeof connection & { destroySoon(): void }).destroySoon()
    if (at < 0) connection.destroy()
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    vi.useRealTimers()
    for (const client of clients) client.destroy()
    server.close()
  })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  for (let at = 0; at < broken + 60; at += 1) {
    const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    clients.push(client.resume().on('error', () => undefined))
    await once(client, 'end')
  }
  await expect.poll(() => closed.length).toBeGreaterThanOrEqual(10)
  expect(closed.slice(0, 10)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  expect(closed.length).toBeLessThan(60)
})
