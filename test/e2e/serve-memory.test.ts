import { readFile } from 'node:fs/promises'
import { type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openRaw, statusesOf, type RawConnection } from '../support/raw-http.js'
import { type RunningProgram } from '../support/run-cli.js'
import { notificationBody, signBody } from '../support/test-receiver.js'
import {
  closeServeScenes,
  openServeScene,
  SECRET,
  untilSynced,
  type ServeScene,
} from './serve-scene.js'

let service: Server | undefined

afterAll(async () => {
  await closeServeScenes()
  service?.closeAllConnections()
  service?.close()
})

const MB = 1024 * 1024

/** Memory of a process, as the system counts it. */
async function residentBytes({ pid }: RunningProgram): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024
}

/** A signed delivery on a connection of its own. */
async function deliver({ url }: ServeScene): Promise<void> {
  const body = notificationBody()
  const text = head([
    `X-SVC-Webhook-Signature: ${signBody(body, SECRET)}`,
    `Content-Length: ${body.length}`,
    'Connection: close',
  ])
  const connection = await openRaw(Number(new URL(url).port), `${text}${body}`)
  expect(statusesOf(await connection.closed())).toEqual([202])
}

interface Watched {
  readonly mostBytes: number
  readonly slowestMs: number
}

/**
 * Sends signed deliveries, one after the other, while something else goes on, and looks at the
 * memory of the process.
 */
async function watch(
  scene: ServeScene,
  program: RunningProgram,
  other: Promise<unknown>,
): Promise<Watched> {
  const over = new AbortController()
  const ending = other.finally(() => {
    over.abort()
  })
  let mostBytes = 0
  let slowestMs = 0
  let deliveries = 0
  while (!over.signal.aborted || deliveries < 5) {
    const startedAt = performance.now()
    await deliver(scene)
    deliveries += 1
    slowestMs = Math.max(slowestMs, performance.now() - startedAt)
    mostBytes = Math.max(mostBytes, await residentBytes(program))
  }
  await ending
  return { mostBytes, slowestMs }
}

const head = (rest: readonly string[]): string =>
  [
    'POST /webhooks HTTP/1.1',
    'Host: 127.0.0.1',
    'Content-Type: application/json',
    ...rest,
    '',
    '',
  ].join('\r\n')

const FORGED = `X-SVC-Webhook-Signature: ${'0'.repeat(64)}`
const CHUNKED = 'Transfer-Encoding: chunked'

/** Sends all of it on so many connections at once; resolves when each is closed or has taken it. */
async function flood(httpPort: number, connections: number, text: Buffer): Promise<void> {
  const open: RawConnection[] = await Promise.all(
    Array.from({ length: connections }, () => openRaw(httpPort)),
  )
  await Promise.all(
    open.map(
      ({ socket }) =>
        new Promise<void>((resolve) => {
          socket.once('close', () => {
            resolve()
          })
          socket.write(text, () => {
            resolve()
          })
        }),
    ),
  )
  for (const { socket } of open) socket.destroy()
}

describe('what strangers send', { tags: ['FB3', 'JD5'] }, () => {
  const oneByteChunks = Buffer.from('1\r\na\r\n'.repeat(60_500))

  const oneByteChunked = Buffer.concat([Buffer.from(head([CHUNKED])), oneByteChunks])
  const endless = Buffer.from(head(['Content-Length: 1048576', FORGED]))
  const elsewhere = oneByteChunked.toString().replace('/webhooks', '/nowhere')

  let scene: ServeScene
  let program: RunningProgram
  // The flood accounts for the memory beyond the maximum under honest load.
  let before = 0

  beforeAll(async () => {
    scene = await openServeScene()
    program = await scene.serve(['--no-processor'])
    await untilSynced(scene)
    for (let round = 0; round < 5; round += 1) {
      await Promise.all(Array.from({ length: 150 }, () => deliver(scene)))
      before = Math.max(before, await residentBytes(program))
    }
  })

  test.for([
    { what: 'chunks of one byte', text: oneByteChunked },
    { what: 'chunks of one byte elsewhere', text: Buffer.from(elsewhere) },
    {
      what: 'bodies of a megabyte that do not end',
      text: Buffer.concat([endless, Buffer.alloc(370_000)]),
    },
  ])(
    '$what, 69 MB on 190 connections: memory rises by less than 50 MB, deliveries are answered',
    async ({ text }) => {
      const httpPort = Number(new URL(scene.url).port)
      const { mostBytes, slowestMs } = await watch(scene, program, flood(httpPort, 190, text))
      const riseMb = (Math.max(mostBytes, await residentBytes(program)) - before) / MB
      expect(riseMb).toBeLessThan(50)
      expect(slowestMs).toBeLessThan(5_000)
    },
  )
})
