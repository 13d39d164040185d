/**
 * How long a program that has an answer is told so without its question: no address costs more than
 * one question in this time, and no program keeps rows for longer that are others now.
 */
const KNOWN_MS = 5_000
const MOST = 1_000

export interface KnownTags {
  /** The tag of an answer that was read a moment ago. */
  readonly find: (key: string) => string | undefined
  readonly keep: (key: string, etag: string, readAt: number) => void
}

/** The `ETag` of the last answer of each address, for a moment. */
export function createKnownTags(clock: () => number): KnownTags {
  const tags = new Map<string, { readonly etag: string; readonly readAt: number }>()
  return {
    find: (key) => {
      const { etag, readAt = -Infinity } = tags.get(key) ?? {}
      return clock() - readAt < KNOWN_MS ? etag : undefined
    },
    keep: (key, etag, readAt) => {
      // Two may be read at once, and the earlier one may end later.
      if ((tags.get(key)?.readAt ?? -Infinity) > readAt) return
      tags.delete(key)
      tags.set(key, { etag, readAt })
      const [oldest] = tags.keys()
      if (tags.size > MOST && oldest !== undefined) tags.delete(oldest)
    },
  }
}
