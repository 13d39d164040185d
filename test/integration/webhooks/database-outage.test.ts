import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import {
  startEmbeddedDatabase,
  type EmbeddedDatabase,
} from '../../../src/extensions/embedded-postgres/embedded-database.js'
import { chooseFreePort } from '../../../src/extensions/embedded-postgres/server-process.js'
import { silentLogger } from '../../../src/base/logger.js'
import { prepareSchemas } from '../../../src/warehouse/schema/prepare-schemas.js'
import { createWarehouse } from '../../../src/warehouse/connection/warehouse.js'
import { endPrograms, waitUntil } from '../../support/run-cli.js'
import {
  countAnswers,
  deliverRest,
  expectEverythingOnce,
  lostDeliveries,
  openCrashScene,
  sendRound,
  startServing,
  waitUntilApplied,
} from './crash-scene.js'

const closers: (() => Promise<unknown>)[] = []

afterEach(async () => {
  await endPrograms()
  for (const close of closers.splice(0).reverse()) await close()
})

/** A server of its own, which keeps what it has committed as any server does. */
async function openServer(): Promise<{
  readonly start: () => Promise<EmbeddedDatabase>
  readonly signal: (name: NodeJS.Signals) => Promise<void>
}> {
  const homeDirectory = await mkdtemp(join(tmpdir(), 'tracking-sync-outage-'))
  await chmod(homeDirectory, 0o755)
  closers.push(() => rm(homeDirectory, { recursive: true, force: true }))
  let server: EmbeddedDatabase | undefined
  closers.push(async () => {
    await server?.stop()
    if (server !== undefined) {
      await rm(dirname(server.dataDirectory), { recursive: true, force: true })
    }
  })
  return {
    start: async () => {
      server = await startEmbeddedDatabase({ homeDirectory, logger: silentLogger })
      return server
    },
    signal: async (name) => {
      const text = await readFile(join(server?.dataDirectory ?? '', 'postmaster.pid'), 'utf8')
      const pid = Number(text.split('\n', 1)[0])
      process.kill(pid, name)
      await waitUntil('the database has ended', () => !isAlive(pid))
    },
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe('PostgreSQL goes away under load', { tags: ['C12', 'I5', 'W16'] }, () => {
  it('and comes back: 503 meanwhile, then everything lands; nothing acknowledged is lost, not even after a crash of the database', async () => {
    const server = await openServer()
    const { url: databaseUrl } = await server.start()
    const warehouse = createWarehouse({
      url: databaseUrl,
      schema: 'tracking',
      logger: silentLogger,
    })
    closers.push(() => warehouse.close())
    await prepareSchemas(warehouse, { sleep: () => Promise.resolve() })
    const httpPort = await chooseFreePort([], new Set())
    const scene = await openCrashScene({ number: 1, warehouse, databaseUrl, httpPort })
    closers.push(() => scene.simulator.close())
    const program = await startServing(scene, 'all')
    // Fast, immediate, and as the kernel does it when memory runs out.
    for (const name of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
      for (let round = 0; round < 4; round += 1) await sendRound(scene)
      const sending = sendRound(scene)
      await server.signal(name)
      await sending
      const before = countAnswers(scene)
      const startedAt = performance.now()
      await sendRound(scene)
      expect(performance.now() - startedAt).toBeLessThan(5_000)
      const after = countAnswers(scene)
      const moved = [...after].filter(([status, count]) => count !== before.get(status))
      expect(
        moved.map(([status]) => status),
        name,
      ).toEqual([503])
      expect((await server.start()).url).toBe(databaseUrl)
      expect(await lostDeliveries(scene), name).toEqual([])
    }
    await deliverRest(scene)
    await waitUntilApplied(scene)
    expect(await lostDeliveries(scene)).toEqual([])
    program.kill('SIGTERM')
    expect(await program.ended).toMatchObject({ exitCode: 0 })
    await expectEverythingOnce(scene)
  })
})
