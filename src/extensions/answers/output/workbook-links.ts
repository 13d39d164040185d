import type { Stream } from 'node:stream'
import type { Feature } from 'write-excel-file/node'
import { escapeHtml } from './html.js'

/** A cell of a sheet, counted from 0, and what it links to. */
export interface CellLink {
  readonly row: number
  readonly column: number
  readonly address: string
}

/** Excel refuses a sheet with more links. */
const MOST_LINKS = 65_530

const RELATION = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'

/** Links of cells, by ECMA-376: the cell names a relation of its sheet. A link is not a formula. */
export function linksFeature(all: readonly CellLink[]): Feature<Stream | Buffer | Blob> {
  const links = all.slice(0, MOST_LINKS)
  if (links.length === 0) return {}
  const cells = links.map(
    ({ row, column }, at) => `<hyperlink ref="${columnName(column)}${row + 1}" r:id="link${at}"/>`,
  )
  const relations = links.map(
    ({ address }, at) =>
      `<Relationship Id="link${at}" Type="${RELATION}/hyperlink" ` +
      `Target="${escapeHtml(address)}" TargetMode="External"/>`,
  )
  return {
    files: {
      transform: {
        'xl/worksheets/sheet{id}.xml': {
          // The standard has an order of elements: the next ones are margins and drawings.
          transform: (xml) =>
            xml.replace('</sheetData>', () => {
              return `</sheetData><hyperlinks>${cells.join('')}</hyperlinks>`
            }),
        },
        'xl/worksheets/_rels/sheet{id}.xml.rels': { insert: () => relations.join('') },
      },
    },
  }
}

/** A, B, … Z, AA. */
function columnName(at: number): string {
  const last = String.fromCharCode(65 + (at % 26))
  return at < 26 ? last : `${columnName(Math.floor(at / 26) - 1)}${last}`
}
