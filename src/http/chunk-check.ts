/** The first chunks of a body may be of any size. */
const FREE_CHUNKS = 512
const SMALLEST_AVERAGE_BYTES = 64

/**
 * Takes the chunks of one body. Returns true as soon as they are so many and so small that reading
 * costs too much: a megabyte in chunks of one byte takes more than a second.
 */
export function createChunkCheck(): (chunk: Buffer) => boolean {
  let chunks = 0
  let bytes = 0
  return (chunk) => {
    chunks += 1
    bytes += chunk.length
    return chunks > FREE_CHUNKS && bytes < chunks * SMALLEST_AVERAGE_BYTES
  }
}
