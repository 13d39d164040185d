import type { RawRecord } from '../jsonapi/raw-record.js'
import { MAX_ID_LENGTH } from './flatten.js'
import type { Resource } from './resource.js'

/**
 * Values of the key columns that a record will have once it is read, as far as its text tells: the
 * own id, and ids of records that it points to. Undefined where it does not.
 */
export function rawKeyValues(resource: Resource, raw: RawRecord): readonly string[] | undefined {
  const values: string[] = []
  for (const name of resource.keyColumns) {
    const value = name === resource.idColumn ? raw.id : linkedIdOf(raw, name)
    if (value === undefined || value === '' || value.length > MAX_ID_LENGTH) return undefined
    values.push(value)
  }
  return values
}

const ID_SUFFIX = '_id'

function linkedIdOf(raw: RawRecord, column: string): string | undefined {
  return column.endsWith(ID_SUFFIX) ? raw.linkedId(column.slice(0, -ID_SUFFIX.length)) : undefined
}
