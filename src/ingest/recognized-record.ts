import type { RawRecord } from '../jsonapi/raw-record.js'
import type { Resource } from '../resources/resource.js'

/** A record that was known by its bytes and not read. Stands in its document, where type and id are what a list is judged by. */
export class RecognizedRecord {
  readonly resource: Resource
  /** As `FlatRecord.key`. */
  readonly key: string
  readonly raw: RawRecord

  constructor(resource: Resource, key: string, raw: RawRecord) {
    this.resource = resource
    this.key = key
    this.raw = raw
  }

  get type(): string | undefined {
    return this.raw.type
  }

  get id(): string | undefined {
    return this.raw.id
  }
}
