/** Texts that may contain semicolons, and the semicolon that ends a statement. */
const PIECES = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$\w*\$)[\s\S]*?\1|;/g

/**
 * The statements of a shipped SQL text, in order, without semicolons and mere comments. Does not
 * support nested comments and `E'\''`.
 */
export function splitStatements(sqlText: string): string[] {
  const statements: string[] = []
  let start = 0
  let isCode = false
  const take = (end: number): void => {
    if (isCode) statements.push(sqlText.slice(start, end).trim())
    isCode = false
  }
  let last = 0
  for (const { 0: piece, index } of sqlText.matchAll(PIECES)) {
    isCode ||= sqlText.slice(last, index).trim() !== ''
    last = index + piece.length
    if (piece === ';') {
      take(index)
      start = last
    }
  }
  isCode ||= sqlText.slice(last).trim() !== ''
  take(sqlText.length)
  return statements
}
