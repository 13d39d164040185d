/** So many chunks of a body may be of any size. */
const FREE_CHUNKS = 512
const SMALLEST_AVERAGE_BYTES = 64

/**
 * Takes the chunks of one body; returns true from the one on by which it has come in so many so
 * small chunks that reading it costs more than it holds: a megabyte of one byte each takes more
 * than a second.
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
