import { ConnectorError } from '../base/errors.js'
import type { RawRecord } from '../source/jsonapi/raw-record.js'
import { LONGEST_ID } from '../source/jsonapi/schemas.js'
import { resourceOfType } from '../source/records/index.js'
import type { Resource } from '../source/records/resource.js'
import { toStorableText } from '../source/records/storable-text.js'
import { loadSeenAttributes } from '../warehouse/bookkeeping/schema-drift.js'
import { findUnknownRecords } from '../warehouse/rows/row-digests.js'
import { WATCHED_STREAMS } from './drift-watch.js'
import { isMetOften } from './fingerprint-memory.js'
import type { Run } from './run.js'

/** Raw records of one resource, and the values of their key columns. */
type Candidates = Map<RawRecord, readonly string[]>

/**
 * Recognizes records by their bytes, so that a page in which nothing changed is neither parsed nor
 * flattened (decision 17): rows by their digest, and records that are included in page after page
 * by what this run has met. Nothing in a backfill, which believes no hash.
 *
 * Records of a stream whose attributes are watched are read until every attribute that its records
 * carried before was met again: an attribute that none of them carries has vanished.
 */
export class RecordRecognizer {
  readonly #run: Run
  #seenAttributes: Promise<ReadonlyMap<string, ReadonlySet<string>>> | undefined
  readonly #confirmed = new Set<string>()

  constructor(run: Run) {
    this.#run = run
  }

  /**
   * The records that need not be parsed, with their keys. One query a stream. A row for which
   * `isDoubtful` is true recognizes no record. A failing database costs only the gain: storing the
   * records will show the failure.
   */
  async recognize(
    records: readonly RawRecord[],
    isDoubtful: (stream: string, key: string) => boolean,
  ): Promise<ReadonlyMap<RawRecord, string>> {
    const known = new Map<RawRecord, string>()
    const { memory, mode } = this.#run.sink
    if (mode !== 'sync') return known
    const candidates = new Map<Resource, Candidates>()
    for (const record of records) {
      if (record.type === undefined || record.id === undefined) continue
      const resource = resourceOfType(record.type)
      if (resource.isMadeWithOthers === true) continue
      if (isMetOften(resource.stream)) {
        const isKnown = memory.hasBytes(resource, record) && !isDoubtful(resource.stream, record.id)
        if (isKnown) known.set(record, record.id)
        continue
      }
      const keyValues = rawKeyValues(resource, record)
      if (keyValues === undefined || isDoubtful(resource.stream, keyValues.join(' '))) continue
      const list = candidates.get(resource)
      if (list === undefined) candidates.set(resource, new Map([[record, keyValues]]))
      else list.set(record, keyValues)
    }
    try {
      for (const [resource, list] of candidates) await this.#look(resource, list, known)
    } catch (thrown) {
      if (!(thrown instanceof ConnectorError)) throw thrown
      this.#run.notes.logger.debug('records could not be recognized', { error: thrown })
    }
    return known
  }

  async #look(
    resource: Resource,
    candidates: Candidates,
    known: Map<RawRecord, string>,
  ): Promise<void> {
    if (!(await this.#isConfirmed(resource.stream))) return
    const { warehouse } = this.#run.sink
    const unknown = await findUnknownRecords(warehouse, warehouse.names, resource, candidates)
    let place = 0
    for (const [record, keyValues] of candidates) {
      if (!unknown.has(place)) known.set(record, keyValues.join(' '))
      place += 1
    }
  }

  /** Whether this run has met every attribute that records of the stream are known to carry. */
  async #isConfirmed(stream: string): Promise<boolean> {
    if (this.#confirmed.has(stream) || !WATCHED_STREAMS.some((name) => name === stream)) return true
    this.#seenAttributes ??= loadSeenAttributes(this.#run.sink.warehouse, WATCHED_STREAMS)
    const seen = (await this.#seenAttributes).get(stream) ?? new Set()
    const carried = new Set(
      [...this.#run.notes.drift.carried(stream)].map((name) => toStorableText(name).text),
    )
    if ([...seen].some((name) => !carried.has(name))) return false
    this.#confirmed.add(stream)
    return true
  }
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
