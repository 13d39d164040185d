import { sql } from 'kysely'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Warehouse } from '../../src/warehouse/connection/warehouse.js'

/**
 * Looks for secrets in everything a program leaves behind: what it printed and answered, the files
 * it wrote, and every table of its database. A secret counts in each form in which somebody could
 * read it back.
 */
export interface CanaryScanner {
  /** A finding contains `where`. */
  text(where: string, text: string): void
  /** Every file of any kind below the directory, except the named ones. */
  files(directory: string, except?: readonly string[]): Promise<void>
  /** Every table and sequence that is not PostgreSQL's own, in every schema, and every comment. */
  tables(warehouse: Pick<Warehouse, 'query'>): Promise<void>
  /** `where: name of the secret (form)`, in the order found. */
  findings(): readonly string[]
  /** How many texts were looked at: none found in nothing proves nothing. */
  looked(): number
}

/** Secrets by a name that may be printed. */
export function createCanaryScanner(secrets: Readonly<Record<string, string>>): CanaryScanner {
  const searched = Object.entries(secrets).flatMap(([name, secret]) =>
    formsOf(secret).map(([form, text]) => ({ name, form, text })),
  )
  const findings: string[] = []
  let looked = 0

  function text(where: string, content: string): void {
    looked += 1
    const small = content.toLowerCase()
    for (const { name, form, text: wanted } of searched) {
      const isFound = form === 'hex' ? small.includes(wanted) : content.includes(wanted)
      if (isFound) findings.push(`${where}: ${name} (${form})`)
    }
  }

  return {
    text,
    files: async (directory, except = []) => {
      const entries = await readdir(directory, { recursive: true, withFileTypes: true })
      for (const entry of entries) {
        const path = join(entry.parentPath, entry.name)
        text(`the name of ${path}`, path)
        if (!entry.isFile() || except.includes(entry.name)) continue
        // One character per byte, so that ASCII, as all forms are, is found also in binary files.
        text(path, await readFile(path, 'latin1'))
      }
    },
    tables: async (warehouse) => {
      const tables = await warehouse.query(
        'list the tables',
        sql<{
          schema: string
          table: string
          quoted: string
        }>`select schemaname as schema, tablename as table, format('%I.%I', schemaname, tablename) as quoted
        from pg_tables where schemaname not in ('pg_catalog', 'information_schema')
        order by 1, 2`,
      )
      for (const { schema, table, quoted } of tables) {
        // Bytes are in hex there.
        const rows = await warehouse.query(
          'look at the rows',
          sql<{ row: string }>`select to_jsonb(one)::text as row from ${sql.raw(quoted)} as one`,
        )
        text(`${schema}.${table}`, rows.map(({ row }) => row).join('\n'))
      }
      const comments = await warehouse.query(
        'look at the comments',
        sql<{ description: string }>`select description from pg_description`,
      )
      text('comments', comments.map(({ description }) => description).join('\n'))
    },
    findings: () => findings,
    looked: () => looked,
  }
}

/** A shorter piece of base64 or hex would be found by chance. */
const SHORTEST = 8

function formsOf(secret: string): (readonly [form: string, text: string])[] {
  const bytes = Buffer.from(secret)
  const encoded = encodeURIComponent(secret)
  const forms: (readonly [string, string])[] = [
    ['plain', secret],
    ['URL-encoded', encoded],
    ['URL-encoded twice', encodeURIComponent(encoded)],
    ['form-encoded', new URLSearchParams({ '': secret }).toString().slice(1)],
    ['escaped', JSON.stringify(secret).slice(1, -1)],
    ['hex', bytes.toString('hex')],
    // Also as a part of a longer text that is encoded: `user:password`, a header, a body.
    ...[0, 1, 2].flatMap((shift) => {
      const inner = innerBase64(bytes, shift)
      return [
        [`base64, shifted by ${shift}`, inner],
        [`base64url, shifted by ${shift}`, inner.replaceAll('+', '-').replaceAll('/', '_')],
      ] as const
    }),
  ]
  // Told by the first form that is this text.
  const told = forms.filter(([form, text]) => form === 'plain' || text.length >= SHORTEST)
  const byText = new Map(told.reverse().map(([form, text]) => [text, form]))
  return [...byText].map(([text, form]) => [form, text] as const)
}

/** The part of the base64 that does not depend on the bytes before (so many) and after it. */
function innerBase64(bytes: Buffer, shift: number): string {
  const padded = Buffer.concat([Buffer.alloc(shift), bytes])
  const text = padded.toString('base64').replace(/=+$/, '')
  const start = Math.ceil((shift * 8) / 6)
  const end = Math.floor((padded.length * 8) / 6)
  return text.slice(start, end)
}
