import type { Logger } from '../../base/logger.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import { addUses } from './access-tokens.js'

/** A use is written with the others of its minute: a request costs no write. */
const BETWEEN_WRITES_MS = 60_000

export interface TokenUses {
  readonly count: (tokenId: string) => void
  /** Writes the rest. */
  readonly close: () => Promise<void>
}

/** Counts the uses of tokens. The first one after a quiet minute is written at once. */
export function createTokenUses(
  warehouse: Warehouse,
  logger: Logger,
  clock: () => number = Date.now,
): TokenUses {
  let uses = new Map<string, { count: number; lastAt: Date }>()
  let writtenAt = -Infinity
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()

  async function write(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    if (uses.size === 0) return
    const written = uses
    uses = new Map()
    writtenAt = clock()
    try {
      await addUses(warehouse, written)
    } catch (error) {
      logger.warn('the uses of tokens could not be counted', { error })
    }
  }

  const flush = (): Promise<void> => (writing = writing.then(write))

  return {
    count: (tokenId) => {
      const { count = 0 } = uses.get(tokenId) ?? {}
      uses.set(tokenId, { count: count + 1, lastAt: new Date(clock()) })
      if (timer !== undefined) return
      const waitMs = Math.max(0, writtenAt + BETWEEN_WRITES_MS - clock())
      timer = setTimeout(() => void flush(), waitMs)
      // Waiting for the next minute keeps no process alive; `close` writes the rest.
      timer.unref()
    },
    close: flush,
  }
}
