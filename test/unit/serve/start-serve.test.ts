import { describe, expect, it } from 'vitest'
import {
  MigrationError,
  WarehouseSchemaError,
  WarehouseUnavailableError,
} from '../../../src/base/errors.js'
import { silentLogger } from '../../../src/base/logger.js'
import { awaitWarehouse } from '../../../src/serve/start-serve.js'

const outage = new WarehouseUnavailableError('connect: refused')

/** Fails with these in turn, then works; notes the waits. */
async function wait(failures: readonly Error[], signal = new AbortController().signal) {
  const left = [...failures]
  const waits: number[] = []
  const isReady = await awaitWarehouse({
    prepare: () => {
      const failure = left.shift()
      return failure === undefined ? Promise.resolve() : Promise.reject(failure)
    },
    logger: silentLogger,
    sleep: (ms) => {
      waits.push(ms)
      return Promise.resolve()
    },
    signal,
  })
  return { isReady, waits }
}

describe('a warehouse that is waited for', () => {
  it('is tried again, less and less often, until it can be reached', async () => {
    expect(await wait([])).toEqual({ isReady: true, waits: [] })
    const { isReady, waits } = await wait(Array.from({ length: 8 }, () => outage))
    expect(isReady).toBe(true)
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000])
  })

  it('is waited for also when it went away in the middle of a migration', async () => {
    const cut = new MigrationError('migration 0001 failed and was rolled back', { cause: outage })
    expect(await wait([cut])).toEqual({ isReady: true, waits: [500] })
  })

  it('is given up when waiting does not help', async () => {
    const newer = new MigrationError('the schemas are newer')
    await expect(wait([outage, newer])).rejects.toBe(newer)
    const grant = new WarehouseSchemaError('permission denied')
    await expect(wait([grant])).rejects.toBe(grant)
  })

  it('is not waited for when the program is to stop', async () => {
    expect(await wait([outage], AbortSignal.abort())).toEqual({ isReady: false, waits: [] })
  })
})
