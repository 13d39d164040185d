/** What may hold a semicolon that ends nothing, and the one that ends a statement. */
const PIECES = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$\w*\$)[\s\S]*?\1|;/g

/**
 * The statements of a text of SQL, in order, without their semicolons; what is only a comment is
 * left out. Of texts that we ship: it knows neither comments within comments nor `E'\''`.
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
