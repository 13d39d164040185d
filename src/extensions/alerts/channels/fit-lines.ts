/** Whole lines of at most `most` characters, and the number of lines left out. */
export function fitLines(lines: readonly string[], most: number): string {
  const kept: string[] = []
  let length = 0
  for (const line of lines) {
    const short = line.length > MOST_OF_LINE ? `${line.slice(0, MOST_OF_LINE)}…` : line
    length += short.length + 1
    if (length > most - ROOM_FOR_REST) break
    kept.push(short)
  }
  const rest = lines.length - kept.length
  return [...kept, ...(rest > 0 ? [`… ${rest} more lines`] : [])].join('\n')
}

const MOST_OF_LINE = 500
const ROOM_FOR_REST = 30
