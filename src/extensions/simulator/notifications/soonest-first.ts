/**
 * A binary heap: the item that is due first comes out first; of equals, the one that went in first.
 */
export interface SoonestFirst<Item> {
  readonly size: number
  /** Infinite when empty. */
  readonly soonest: number
  add(at: number, item: Item): void
  /** The first item due at or before the instant; undefined when there is none. */
  take(until: number): Item | undefined
  /** Takes out all unwanted items, in no order. Costs the size. */
  remove(isUnwanted: (item: Item) => boolean): Item[]
}

interface Entry<Item> {
  readonly at: number
  readonly turn: number
  readonly item: Item
}

export function createSoonestFirst<Item>(): SoonestFirst<Item> {
  let heap: Entry<Item>[] = []
  let turns = 0
  const isBefore = (one: Entry<Item>, other: Entry<Item>): boolean =>
    one.at === other.at ? one.turn < other.turn : one.at < other.at
  const entryAt = (place: number): Entry<Item> | undefined => heap[place]
  const rise = (entry: Entry<Item>): void => {
    let place = heap.length
    heap.push(entry)
    while (place > 0) {
      const above = (place - 1) >> 1
      const parent = entryAt(above)
      if (parent === undefined || !isBefore(entry, parent)) break
      heap[place] = parent
      place = above
    }
    heap[place] = entry
  }
  const sink = (entry: Entry<Item>): void => {
    let place = 0
    for (;;) {
      let below = 2 * place + 1
      let child = entryAt(below)
      const right = entryAt(below + 1)
      if (child !== undefined && right !== undefined && isBefore(right, child)) {
        below += 1
        child = right
      }
      if (child === undefined || !isBefore(child, entry)) break
      heap[place] = child
      place = below
    }
    heap[place] = entry
  }
  return {
    get size() {
      return heap.length
    },
    get soonest() {
      return heap[0]?.at ?? Number.POSITIVE_INFINITY
    },
    add: (at, item) => {
      turns += 1
      rise({ at, turn: turns, item })
    },
    take: (until) => {
      const first = heap[0]
      if (first === undefined || first.at > until) return undefined
      const last = heap.pop()
      if (last !== undefined && last !== first) sink(last)
      return first.item
    },
    remove: (isUnwanted) => {
      const kept = heap.filter(({ item }) => !isUnwanted(item))
      const removed = heap.filter(({ item }) => isUnwanted(item)).map(({ item }) => item)
      heap = []
      for (const entry of kept) rise(entry)
      return removed
    },
  }
}
