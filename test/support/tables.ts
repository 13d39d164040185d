/**
 * Tables of text, as one notes them by hand: a line for the names of the columns, a line a row,
 * cells between bars. A line that begins with -- is a remark.
 */
export function linesOf(table: string): string[][] {
  return table
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('--'))
    .map((line) => line.split('|').map((cell) => cell.trim()))
}

/** Rows to insert, as texts: `-` is null, and an empty cell leaves its column as in `base`. */
export function rowsOf<Base extends object = Record<string, string | null>>(
  table: string,
  base?: Base,
): (Base & Record<string, string | null>)[] {
  const [names = [], ...lines] = linesOf(table)
  return lines.map((cells) => {
    const said = names.flatMap((name, at) => {
      const cell = cells[at] ?? ''
      return cell === '' ? [] : [[name, cell === '-' ? null : cell]]
    })
    return { ...base, ...Object.fromEntries(said) } as Base & Record<string, string | null>
  })
}

/**
 * The table of rows to insert, left of `=>` in each line, and the table to expect of them. It begins
 * with the first column of the other; a line that ends with `=>` adds nothing to it.
 */
export function givenAndExpected(table: string): [given: string, expected: string] {
  const lines = linesOf(table).map((cells) => {
    const [given = '', expected = ''] = cells.join(' | ').split('=>')
    return { given, expected, first: cells[0] }
  })
  const shown = lines.filter(({ expected }) => expected.trim() !== '')
  return [
    lines.map(({ given }) => given).join('\n'),
    shown.map(({ first, expected }) => `${first} | ${expected}`).join('\n'),
  ]
}

/** A value as a table shows it; nested ones as `USD 20, CAD 10`, and `[]` or `{}` if empty. */
export function cellOf(value: unknown): string {
  if (value === null) return '-'
  if (typeof value !== 'object') return JSON.stringify(value).replaceAll('"', '')
  const parts = Array.isArray(value)
    ? value.map(cellOf)
    : Object.entries(value).map(([name, part]) => `${name} ${cellOf(part)}`)
  return parts.join(', ') || JSON.stringify(value)
}

export function toLines(rows: readonly (readonly string[])[]): string[] {
  return rows.map((cells) => cells.join(' | '))
}
