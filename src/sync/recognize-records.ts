import { ConnectorError } from '../base/errors.js'
import type { RecognizeRecords } from '../jsonapi/parse-json-bytes.js'
import type { RawRecord } from '../jsonapi/raw-record.js'
import { resourceOfType } from '../resources/index.js'
import { rawKeyValues } from '../resources/raw-key.js'
import type { Resource } from '../resources/resource.js'
import { toStorableText } from '../resources/storable-text.js'
import { findUnknownRecords, type ShownRecord } from '../warehouse/rows/row-digests.js'
import { loadSeenAttributes } from '../warehouse/bookkeeping/schema-drift.js'
import { isMetOften } from '../ingest/fingerprint-memory.js'
import { WATCHED_STREAMS } from './record-drift.js'
import { RecognizedRecord } from '../ingest/recognized-record.js'
import type { Run } from '../ingest/run.js'
import { isComparedByValue } from '../ingest/thorough.js'

interface Candidate extends ShownRecord {
  readonly raw: RawRecord
}

/**
 * Knows records again by their bytes, so that a page in which nothing changed is neither parsed nor flattened (decision 17): rows by their digest, and what
 * is included with page after page by what this run has met. Never in a thorough run, which believes no hash.
 *
 * The first page of a walk is read whole, whatever it holds: by it the includes are judged, and what the service sends beyond the interface is noticed. A
 * record of a stream whose attributes are watched is read as well until each attribute that its records carried before was met again, for one that is
 * in no record any more has vanished.
 */
export class RecordRecognizer {
  readonly #run: Run
  #isOn = false
  #seenAttributes: Promise<ReadonlyMap<string, ReadonlySet<string>>> | undefined
  readonly #confirmed = new Set<string>()

  constructor(run: Run) {
    this.#run = run
  }

  /** From now on records are recognized: the first page has been read. */
  start(): void {
    this.#isOn = !isComparedByValue(this.#run)
  }

  /** One query a stream. A database that fails costs only the gain: then no record is known, and storing them will tell what is wrong. */
  readonly recognize: RecognizeRecords = async (records) => {
    const known = new Map<RawRecord, RecognizedRecord>()
    if (!this.#isOn) return known
    const candidates = new Map<Resource, Candidate[]>()
    for (const raw of records) {
      if (raw.type === undefined || raw.id === undefined) continue
      const resource = resourceOfType(raw.type)
      if (isMetOften(resource.stream)) {
        const isMet = this.#run.memory.hasBytes(resource, raw)
        if (isMet) known.set(raw, new RecognizedRecord(resource, raw.id, raw))
        continue
      }
      const keyValues = rawKeyValues(resource, raw)
      if (keyValues === undefined) continue
      const candidate = { raw, keyValues, digest: raw.digest }
      const list = candidates.get(resource)
      if (list === undefined) candidates.set(resource, [candidate])
      else list.push(candidate)
    }
    try {
      for (const [resource, list] of candidates) await this.#look(resource, list, known)
    } catch (thrown) {
      if (!(thrown instanceof ConnectorError)) throw thrown
      this.#run.logger.debug('records could not be recognized', { error: thrown })
    }
    return known
  }

  async #look(
    resource: Resource,
    list: readonly Candidate[],
    known: Map<RawRecord, RecognizedRecord>,
  ): Promise<void> {
    const { warehouse } = this.#run
    if (!(await this.#isConfirmed(resource.stream))) return
    const unknown = await findUnknownRecords(warehouse, warehouse.names, resource, list)
    for (const [place, { raw, keyValues }] of list.entries()) {
      if (unknown.has(place)) continue
      known.set(raw, new RecognizedRecord(resource, keyValues.join(' '), raw))
    }
  }

  /** Whether this run has met every attribute that records of the stream are known to carry. */
  async #isConfirmed(stream: string): Promise<boolean> {
    if (this.#confirmed.has(stream) || !WATCHED_STREAMS.some((name) => name === stream)) return true
    const { warehouse, drift } = this.#run
    this.#seenAttributes ??= loadSeenAttributes(warehouse, WATCHED_STREAMS)
    const seen = (await this.#seenAttributes).get(stream) ?? new Set()
    const carried = new Set([...drift.carried(stream)].map((name) => toStorableText(name).text))
    if ([...seen].some((name) => !carried.has(name))) return false
    this.#confirmed.add(stream)
    return true
  }
}
