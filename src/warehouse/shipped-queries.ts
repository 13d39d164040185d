import { readFile, readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { withSchemaNames, type SchemaNames } from './schema-names.js'

/** A question the product ships: one file of `sql/queries`, named after it. */
export interface ShippedQuery {
  readonly name: string
  /** First line of the file's header. */
  readonly title: string
  /** The whole header: the grain and every choice a reader could doubt. */
  readonly definition: string
  /** With the schema names put in. */
  readonly sqlText: string
}

const DIRECTORY = fileURLToPath(new URL('../../sql/queries/', import.meta.url))

/** All shipped questions, by name. */
export async function readShippedQueries(names: SchemaNames): Promise<ShippedQuery[]> {
  const files = (await readdir(DIRECTORY)).filter((file) => file.endsWith('.sql')).sort()
  return Promise.all(
    files.map(async (file) => {
      const text = await readFile(`${DIRECTORY}/${file}`, 'utf8')
      const header: string[] = []
      for (const line of text.split('\n')) {
        if (!line.startsWith('--')) break
        header.push(line.replace(/^-- ?/, ''))
      }
      return {
        name: file.replace(/\.sql$/, ''),
        title: header[0] ?? '',
        definition: header.join('\n'),
        sqlText: withSchemaNames(text, names),
      }
    }),
  )
}
