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

const newer = new MigrationError('the schemas are newer')
const grant = new WarehouseSchemaError('permission denied')
const cut = new MigrationError('migration 0001 failed and was rolled back', { cause: outage })
const EIGHT_WAITS = [500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000]

describe('a warehouse that is waited for', () => {
  it.each([
    ['is used at once', [], []],
    ['is tried again, less and less often', EIGHT_WAITS.map(() => outage), EIGHT_WAITS],
    ['is waited for also when it went away in the middle of a migration', [cut], [500]],
  ])('%s', async (_, failures, waits) => {
    expect(await wait(failures)).toEqual({ isReady: true, waits })
  })

  it('is given up when waiting does not help', async () => {
    await expect(wait([outage, newer])).rejects.toBe(newer)
    await expect(wait([grant])).rejects.toBe(grant)
  })

  it('is not waited for when the program is to stop', async () => {
    expect(await wait([outage], AbortSignal.abort())).toEqual({ isReady: false, waits: [] })
  })
})
