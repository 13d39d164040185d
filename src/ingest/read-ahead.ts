/**
 * Each item changed. The next one is fetched and changed while the caller works on the last. When
 * the caller stops or fails, the item under way is awaited, so that no rejection is left without a
 * handler.
 */
export async function* readAhead<Item, Result>(
  items: AsyncIterable<Item>,
  change: (item: Item) => Promise<Result>,
): AsyncGenerator<Result, void> {
  const iterator = items[Symbol.asyncIterator]()
  const advance = async (): Promise<IteratorResult<Result, undefined>> => {
    const item = await iterator.next()
    return item.done === true
      ? { done: true, value: undefined }
      : { done: false, value: await change(item.value) }
  }
  let next = advance()
  try {
    for (;;) {
      const result = await next
      if (result.done === true) return
      next = advance()
      // It is awaited above or below; until then a failure must not count as unhandled.
      next.catch(() => undefined)
      yield result.value
    }
  } finally {
    await next.catch(() => undefined)
    await iterator.return?.()
  }
}
