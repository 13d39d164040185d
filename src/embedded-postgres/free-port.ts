import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import { EmbeddedDatabaseError } from '../base/errors.js'

/**
 * Below the range from which systems take ports for outgoing connections, so that a remembered port
 * stays free.
 */
const LOWEST_PORT = 20_000
const HIGHEST_PORT = 29_999
const RANDOM_TRIES = 50

/**
 * The first of `wanted` that is free on the loopback address, else a random free one. Never one of
 * `taken`.
 */
export async function chooseFreePort(
  wanted: readonly number[],
  taken: ReadonlySet<number>,
): Promise<number> {
  const random = Array.from({ length: RANDOM_TRIES }, () =>
    randomInt(LOWEST_PORT, HIGHEST_PORT + 1),
  )
  for (const port of [...wanted, ...random]) {
    if (!taken.has(port) && (await isPortFree(port))) return port
  }
  throw new EmbeddedDatabaseError(
    `No free port was found on 127.0.0.1 between ${LOWEST_PORT} and ${HIGHEST_PORT}; ` +
      'name one in the settings, or set DATABASE_URL.',
  )
}

async function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => {
      resolve(false)
    })
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      server.close(() => {
        resolve(true)
      })
    })
  })
}
