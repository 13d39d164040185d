import type { RawRecord } from '../jsonapi/raw-record.js'
import type { Resource } from './resource.js'

/**
 * Values of the key columns that a record will have once it is read, as far as its bytes tell: the own id, and ids of records that it points to.
 * Undefined where they do not.
 */
export function rawKeyValues(resource: Resource, raw: RawRecord): readonly string[] | undefined {
  const values: string[] = []
  for (const name of resource.keyColumns) {
    const value = name === resource.idColumn ? raw.id : linkedIdOf(raw, name)
    if (value === undefined) return undefined
    values.push(value)
  }
  return values
}

const ID_COLUMN = /^(.+)_id$/

function linkedIdOf(raw: RawRecord, column: string): string | undefined {
  const relationship = ID_COLUMN.exec(column)?.[1]
  return relationship === undefined ? undefined : raw.linkedId(relationship)
}
