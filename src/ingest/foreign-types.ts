import { IncompleteRunError } from '../base/errors.js'
import type { RecordIdentity } from '../source/jsonapi/raw-record.js'
import type { ListedTypes } from '../warehouse/bookkeeping/checkpoints.js'

const NONE: ListedTypes = { isOwnTypeSeen: false, foreign: [] }
const TYPES_NAMED = 3
const SHOWN_LENGTH = 60

/** Adds the types of more records. Records that name no type are left to the quarantine. */
export function addListedTypes(
  before: ListedTypes = NONE,
  records: readonly RecordIdentity[],
  ownType: string,
): ListedTypes {
  const types = records.map(({ type }) => type).filter((type) => typeof type === 'string')
  const foreign = types
    .filter((type) => type !== ownType)
    .map((type) => type.slice(0, SHOWN_LENGTH))
  return {
    isOwnTypeSeen: before.isOwnTypeSeen || types.includes(ownType),
    foreign: [...new Set([...before.foreign, ...foreign])].slice(0, TYPES_NAMED),
  }
}

/**
 * The error for a stream whose records are all of another type, as after a renaming at the service;
 * undefined otherwise. Such a stream proves nothing about our rows, although its answers were good.
 */
export function foreignStreamError(
  stream: string,
  { isOwnTypeSeen, foreign }: ListedTypes,
): IncompleteRunError | undefined {
  if (isOwnTypeSeen || foreign.length === 0) return undefined
  const names = foreign.map((type) => JSON.stringify(type)).join(', ')
  return new IncompleteRunError(
    `every record that came as ${stream} is of another type, ${names}: they are kept, in ` +
      'other_resources where no table is theirs, and no other row was changed. ' +
      'See whether the service renamed the type and a newer version of this program knows it',
  )
}
