/**
 * The same items, with the next one already being fetched while the consumer works on the last. Reads ahead by exactly one. When
 * the consumer stops or fails, the item under way is awaited, so that no rejection is left without a handler.
 */
export async function* readAhead<Item>(source: AsyncIterable<Item>): AsyncGenerator<Item, void> {
  const iterator = source[Symbol.asyncIterator]()
  let next = iterator.next()
  try {
    for (;;) {
      const result = await next
      if (result.done === true) return
      next = iterator.next()
      // It is awaited above or below; until then a failure must not count as unhandled.
      next.catch(() => undefined)
      yield result.value
    }
  } finally {
    await next.catch(() => undefined)
    await iterator.return?.()
  }
}
