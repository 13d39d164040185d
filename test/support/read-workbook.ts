import { inflateRawSync } from 'node:zlib'

/** A cell as the file has it: a text, a number, a truth, or a number that is shown as a time. */
export type WorkbookCell = string | number | boolean | Date | null

export interface ReadWorkbook {
  readonly name: string
  readonly rows: readonly (readonly WorkbookCell[])[]
  /** How the cell of a row and a column is shown; empty: as it is. */
  readonly format: (row: number, column: number) => string
  readonly hasFormulas: boolean
  /** Addresses outside, by the cells that link to them, like `A2`. */
  readonly links: ReadonlyMap<string, string>
}

const DAY_MS = 86_400_000

/** The first sheet, read from the standard (ECMA-376), sharing nothing with what writes it. */
export function readWorkbook(bytes: Buffer): ReadWorkbook {
  const files = unzip(bytes)
  const find = (path: string, ...names: readonly string[]): Element[] => {
    const text = files.get(path)
    if (text === undefined) throw new Error(`the workbook has no ${path}`)
    return names.reduce<Element[]>(
      (found, name) => found.flatMap(({ inner }) => elements(inner, name)),
      [{ attributes: {}, inner: text }],
    )
  }
  const sheet = 'xl/worksheets/sheet1.xml'
  const styles = 'xl/styles.xml'
  const texts = find('xl/sharedStrings.xml', 'si', 't').map(({ inner }) => textOf(inner))
  const formats = new Map(
    find(styles, 'numFmt').map(({ attributes }) => [attributes.numFmtId, attributes.formatCode]),
  )
  const looks = find(styles, 'cellXfs', 'xf')
  const formatOf = (cell: Element | undefined): string =>
    formats.get(looks[Number(cell?.attributes.s ?? 0)]?.attributes.numFmtId) ?? ''
  const cells = find(sheet, 'row').map(({ inner }) => {
    const found: Element[] = []
    for (const cell of elements(inner, 'c')) found[columnOf(cell.attributes.r!)] = cell
    return found
  })
  const valueOf = (cell: Element | undefined): WorkbookCell => {
    if (cell === undefined) return null
    const { t: type = 'n' } = cell.attributes
    const text = elements(cell.inner, 'v')[0]?.inner ?? ''
    if (type === 's') return texts[Number(text)]!
    if (type === 'b') return text === '1'
    if (type !== 'n') throw new Error(`a cell has the type ${type}`)
    // Day 25,569 is the first of 1970.
    return formatOf(cell).startsWith('yyyy')
      ? new Date(Math.round((Number(text) - 25_569) * DAY_MS))
      : Number(text)
  }
  const [header = []] = cells
  const targets = new Map(
    find('xl/worksheets/_rels/sheet1.xml.rels', 'Relationship')
      .filter(({ attributes }) => attributes.TargetMode === 'External')
      .map(({ attributes }) => [attributes.Id, attributes.Target!]),
  )
  return {
    name: find('xl/workbook.xml', 'sheet')[0]?.attributes.name ?? '',
    rows: cells.map((row) => header.map((_, at) => valueOf(row[at]))),
    format: (row, column) => formatOf(cells[row]?.[column]),
    hasFormulas: find(sheet, 'f').length > 0,
    links: new Map(
      find(sheet, 'hyperlinks', 'hyperlink').map(({ attributes }) => [
        attributes.ref!,
        targets.get(attributes['r:id'])!,
      ]),
    ),
  }
}

interface Element {
  readonly attributes: Readonly<Record<string, string>>
  readonly inner: string
}

/** Of one name, wherever they are; none has another of its name inside. */
function elements(xml: string, name: string): Element[] {
  const pattern = new RegExp(`<${name}((?: [^<>]*?)?)(?:/>|>(.*?)</${name}>)`, 'gs')
  return [...xml.matchAll(pattern)].map(([, attributes = '', inner = '']) => ({
    attributes: Object.fromEntries(
      [...attributes.matchAll(/([\w:]+)="([^"]*)"/g)].map(([, key, value]): [string, string] => [
        key!,
        textOf(value!),
      ]),
    ),
    inner,
  }))
}

const SIGNS: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

/** With the signs that XML and Excel write otherwise. */
function textOf(xml: string): string {
  return xml
    .replaceAll(/&(\w+);/g, (_, name: string) => SIGNS[name]!)
    .replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replaceAll(/_x([\dA-F]{4})_/g, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    )
}

/** `AB12` is in the column 27. */
function columnOf(address: string): number {
  const letters = /^[A-Z]+/.exec(address)![0]
  return Array.from(letters).reduce((sum, one) => sum * 26 + one.charCodeAt(0) - 64, 0) - 1
}

/** The files of an archive, by what its directory says of them. */
function unzip(bytes: Buffer): Map<string, string> {
  const files = new Map<string, string>()
  const end = bytes.lastIndexOf(Buffer.from('PK\u0005\u0006'))
  let at = bytes.readUInt32LE(end + 16)
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left -= 1) {
    const [size, nameSize] = [bytes.readUInt32LE(at + 20), bytes.readUInt16LE(at + 28)]
    const local = bytes.readUInt32LE(at + 42)
    const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28)
    const name = bytes.toString('utf8', at + 46, at + 46 + nameSize)
    files.set(name, inflateRawSync(bytes.subarray(start, start + size)).toString('utf8'))
    at += 46 + nameSize + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32)
  }
  return files
}
