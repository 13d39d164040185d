import { ConnectorError } from '../base/errors.js'
import type { Logger } from '../base/logger.js'
import type { RawRecord, RawRecords } from '../source/jsonapi/raw-record.js'
import { LONGEST_ID } from '../source/jsonapi/schemas.js'
import { resourceOfType, resources } from '../source/records/index.js'
import { isDigestOf, type Resource, type Sighting } from '../source/records/resource.js'
import { toStorableText } from '../source/records/column.js'
import { loadSeenAttributes } from '../warehouse/bookkeeping/schema-drift.js'
import { findUnlikeOwners, recordDigests } from '../warehouse/rows/row-digests.js'
import type { Known } from './decide.js'
import { WATCHED_STREAMS, type DriftWatch } from './drift-watch.js'
import { isMetOften } from './fingerprint-memory.js'
import { hasRead, type Intake } from './intake.js'
import type { Sink } from './sink.js'

/**
 * The records of a page that need not be parsed, with their keys: each equals its row, or a record
 * that this run has met. `before`: the page before it, whose rows may be written meanwhile;
 * undefined for the first page.
 */
export type Recognize = (
  page: RawRecords,
  before: Intake | undefined,
) => Promise<ReadonlyMap<RawRecord, string>>

const NOTHING: ReadonlyMap<RawRecord, string> = new Map()

/** Everything is parsed, and gives the same rows. */
export const recognizeNothing: Recognize = () => Promise.resolve(NOTHING)

/** Raw records of one resource, and the values of their key columns. */
type Candidates = Map<RawRecord, readonly string[]>

/**
 * Recognizes records by their bytes, so that a page in which nothing changed is neither parsed nor
 * flattened (decision 17): rows by their digest, and records that are included in page after page
 * by what this run has met. Nothing in a backfill, which believes no hash. One query a stream. The
 * first page is read whole all the same: it shows which includes the service sends, and its content
 * beyond the interface.
 *
 * Records of a stream whose attributes are watched are read until every attribute that its records
 * carried before was met again: an attribute that none of them carries has vanished.
 *
 * A failing database costs only the gain: storing the records will show the failure.
 */
export function recognizeByBytes(
  sink: Sink,
  { drift, logger }: { readonly drift: DriftWatch; readonly logger: Logger },
): Recognize {
  if (sink.mode !== 'sync') return recognizeNothing
  const { warehouse, memory } = sink
  const confirmed = new Set<string>()
  let seenAttributes: ReadonlyMap<string, ReadonlySet<string>> | undefined

  /** Whether this run has met every attribute that records of the stream are known to carry. */
  async function isConfirmed(stream: string): Promise<boolean> {
    if (confirmed.has(stream) || !WATCHED_STREAMS.some((name) => name === stream)) return true
    seenAttributes ??= await loadSeenAttributes(warehouse, WATCHED_STREAMS)
    const seen = seenAttributes.get(stream) ?? new Set()
    const carried = new Set([...drift.carried(stream)].map((name) => toStorableText(name).text))
    if ([...seen].some((name) => !carried.has(name))) return false
    confirmed.add(stream)
    return true
  }

  return async ({ primary, included }, before) => {
    if (before === undefined) return NOTHING
    const mayHaveChanged = hasRead(before)
    const known = new Map<RawRecord, string>()
    const candidates = new Map<Resource, Candidates>()
    for (const record of [...included, ...primary]) {
      if (record.type === undefined || record.id === undefined) continue
      const resource = resourceOfType(record.type)
      if (resource.isMadeWithOthers === true) continue
      const { stream } = resource
      if (isMetOften(stream)) {
        const digest = memory.digestOf(stream, record.id)
        const isMet = typeof digest === 'string' && isDigestOf(digest, resource, record.digest)
        if (isMet && !mayHaveChanged(stream, record.id)) known.set(record, record.id)
        continue
      }
      const keyValues = rawKeyValues(resource, record)
      if (keyValues === undefined || mayHaveChanged(stream, keyValues.join(' '))) continue
      const list = candidates.get(resource)
      if (list === undefined) candidates.set(resource, new Map([[record, keyValues]]))
      else list.set(record, keyValues)
    }
    try {
      for (const [resource, list] of candidates) {
        if (!(await isConfirmed(resource.stream))) continue
        const unlike = await findUnlikeOwners(warehouse, resource, list)
        for (const [record, keyValues] of list) {
          if (!unlike.has(keyValues[0])) known.set(record, keyValues.join(' '))
        }
      }
    } catch (thrown) {
      if (!(thrown instanceof ConnectorError)) throw thrown
      logger.debug('records could not be recognized', { error: thrown })
    }
    return known
  }
}

/** Lets the next run recognize these records, which equal their rows, by their bytes. */
export async function noteDigests(
  sink: Sink,
  equal: readonly Sighting[],
  { rows }: Known,
): Promise<void> {
  const undigested = equal.filter(
    ({ resource, key, digest }) =>
      digest !== null && rows.get(resource.stream)?.get(key)?.hasDigest === false,
  )
  if (undigested.length === 0) return
  await sink.transact('record digests', async (session) => {
    for (const resource of resources) {
      const own = undigested.filter((one) => one.resource === resource)
      await recordDigests(session, resource, own)
    }
  })
}

/**
 * Values of the key columns that a record will have once it is read, as far as its text shows them:
 * its own id, and ids of records that it points to. Undefined where the text does not show them.
 */
function rawKeyValues(resource: Resource, raw: RawRecord): readonly string[] | undefined {
  const values: string[] = []
  for (const name of resource.keyColumns) {
    const value = name === resource.idColumn ? raw.id : linkedIdOf(raw, name)
    if (value === undefined || value === '' || value.length > LONGEST_ID) return undefined
    values.push(value)
  }
  return values
}

const ID_SUFFIX = '_id'

function linkedIdOf(raw: RawRecord, column: string): string | undefined {
  return column.endsWith(ID_SUFFIX) ? raw.linkedId(column.slice(0, -ID_SUFFIX.length)) : undefined
}
