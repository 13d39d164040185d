import { isUtf8 } from 'node:buffer'

/**
 * Stands where bytes were no UTF-8: half a surrogate pair, which no UTF-8 holds. Whatever makes a
 * text storable puts U+FFFD in its place and flags the value; a decoder that put U+FFFD there at
 * once would leave nothing to flag.
 */
const UNREADABLE = '\udfff'

const REPLACEMENT = '\ufffd'
const REPLACEMENT_BYTES = Buffer.from(REPLACEMENT)

/**
 * The text of the bytes; as many marks for what is no UTF-8 as `toString` has replacement
 * characters.
 */
export function decodeUtf8(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8')
  // A replacement character that was sent is no mark. Its first byte begins a character in any
  // case, so the bytes may be cut there.
  const parts: string[] = []
  let start = 0
  for (;;) {
    const end = bytes.indexOf(REPLACEMENT_BYTES, start)
    const part = bytes.toString('utf8', start, end === -1 ? bytes.length : end)
    parts.push(part.replaceAll(REPLACEMENT, UNREADABLE))
    if (end === -1) return parts.join(REPLACEMENT)
    start = end + REPLACEMENT_BYTES.length
  }
}
