import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { silentLogger } from '../../../src/base/logger.js'
import { createDoorGuard } from '../../../src/extensions/doors/http/door-guard.js'
import type { Warehouse } from '../../../src/warehouse/connection/warehouse.js'

/** Its connection closes at once: later it does not say so again. */
class Answered extends EventEmitter {
  destroyed = false

  close(): void {
    this.destroyed = true
    this.emit('close')
  }
}

const none = undefined as unknown as Warehouse

const options = {
  warehouse: none,
  answers: none,
  uses: { count: () => undefined, close: () => Promise.resolve() },
  logger: silentLogger,
}

it('a client that went away while it waited keeps no turn', { tags: ['HQ4'] }, async () => {
  const { takeTurn } = createDoorGuard({
    ...options,
    limits: { atOnce: 1, waiting: 1 },
  })
  const take = (one: Answered) => takeTurn(one as unknown as ServerResponse)
  const [first, gone, another, last] = Array.from({ length: 4 }, () => new Answered()) as [
    Answered,
    Answered,
    Answered,
    Answered,
  ]
  await take(first)
  const waiting = take(gone)
  await expect(take(another)).rejects.toThrow(/too many answers are under way/)
  gone.close()
  first.close()
  await expect(waiting).rejects.toThrow(/went away/)
  await take(last)
  last.close()
})

it('reads nothing for a client that went away', { tags: ['HQ4'] }, async () => {
  const { read } = createDoorGuard(options)
  const asked: string[] = []
  const ask = (name: string, isGone: boolean): Promise<number> =>
    read(
      () => Promise.resolve(asked.push(name)),
      () => isGone,
    )
  await expect(ask('gone', true)).rejects.toThrow(/went away/)
  await ask('waits', false)
  expect(asked).toEqual(['waits'])
})

it('reads two answers at a time', { tags: ['HQ4'] }, async () => {
  const { read } = createDoorGuard(options)
  const ends: (() => void)[] = []
  const answers = [1, 2, 3].map(() =>
    read(
      () => new Promise<void>((resolve) => ends.push(resolve)),
      () => false,
    ),
  )
  await nextTurn()
  expect(ends).toHaveLength(2)
  ends[1]?.()
  await answers[1]
  await nextTurn()
  expect(ends).toHaveLength(3)
  for (const end of ends) end()
  await Promise.all(answers)
})
