import type { TrackingService } from '../../source/client/endpoints.js'
import type { ApiAnswer } from '../../source/client/client.js'
import { ApiAuthError, ApiContractError, ApiNotFoundError, ConfigError } from '../../base/errors.js'
import { loadFieldDefinitions } from '../../sync/read-custom-fields.js'
import type { RunSettings } from '../../ingest/run.js'
import { membersOf } from '../../source/jsonapi/document.js'
import { customFields } from '../../source/records/index.js'
import { quarantineRecords } from '../../warehouse/bookkeeping/quarantined-records.js'
import { upsertRows } from '../../warehouse/rows/upsert.js'
import type { Warehouse } from '../../warehouse/connection/warehouse.js'
import { readRecords } from '../../ingest/intake.js'

/** The types with custom fields. */
export type EntityType = 'container' | 'shipment' | 'tracking_request'

export interface CustomFieldChange {
  /** Id of a container, shipment or tracking request. */
  readonly entityId: string
  readonly entityType: EntityType
  readonly apiSlug: string
  /** Any JSON value. */
  readonly value: unknown
}

export interface SetCustomFieldReport extends CustomFieldChange {
  /** As the service shows the new value; null if it does not say. */
  readonly displayValue: string | null
  /** The new value as the service stored it; it may differ from the requested one. */
  readonly storedValue: unknown
  /** False if the row already held it, or a newer one. */
  readonly isRowWritten: boolean
}

export interface SetCustomFieldDependencies {
  readonly service: Pick<TrackingService, 'updateCustomField'>
  readonly warehouse: Warehouse
  readonly settings: Pick<RunSettings, 'sensitiveFields'>
  readonly signal: AbortSignal
}

/**
 * Sets a custom field of a record at the service, then writes the answer to the warehouse. Needs no
 * lease, so it works while a sync runs: a page that was read before the change is older than the
 * answer and does not undo it. Idempotent. Throws `ApiAuthError` without the permission,
 * `ConfigError` for an unknown record or field, and `ApiContractError` if the change was made but
 * the answer cannot become a row: then it is in quarantine, and the next sync brings the value.
 */
export async function setCustomField(
  change: CustomFieldChange,
  dependencies: SetCustomFieldDependencies,
): Promise<SetCustomFieldReport> {
  const { warehouse } = dependencies
  const answer = await askForChange(change, dependencies)
  const { entityType, entityId, apiSlug } = change
  const intake = readRecords(answer.document, {
    stream: customFields.stream,
    source: `/${entityType}s/${entityId}/custom_fields/${apiSlug}`,
    observedAt: answer.observedAt,
    fieldDefinitions: await loadFieldDefinitions(warehouse, dependencies.settings),
  })
  const sightings = (intake.sightings.get(customFields.stream) ?? []).slice(0, 1)
  const isRowWritten = await warehouse.transaction('write the custom field', async (session) => {
    await quarantineRecords(session, intake.quarantined, null)
    const options = { names: warehouse.names, syncRunId: null, mode: 'sync' as const }
    return (await upsertRows(session, customFields, sightings, options)).length > 0
  })
  const [sighting] = sightings
  if (sighting === undefined) {
    throw new ApiContractError(
      'the service made the change, but its answer could not be stored as a custom field: ' +
        'see `tracking-sync quarantine list`; the next sync brings the value',
      { pointer: '/data' },
    )
  }
  const displayValue = sighting.values[customFields.columnIndex.get('display_value') ?? -1] ?? null
  return {
    ...change,
    storedValue: membersOf(membersOf(answer.document.data[0]).attributes).value,
    displayValue: typeof displayValue === 'string' ? displayValue : null,
    isRowWritten,
  }
}

async function askForChange(
  { entityType, entityId, apiSlug, value }: CustomFieldChange,
  { service, signal }: SetCustomFieldDependencies,
): Promise<ApiAnswer> {
  try {
    return await service.updateCustomField(`${entityType}s`, entityId, apiSlug, value, { signal })
  } catch (thrown) {
    if (thrown instanceof ApiAuthError && thrown.context.status === 403) {
      throw new ApiAuthError(
        `the key needs update permission on ${entityType} ${entityId} to set its custom field ` +
          `${apiSlug}; ask the owner of the account for it. ${thrown.message}`,
        { cause: thrown, context: thrown.context },
      )
    }
    if (thrown instanceof ApiNotFoundError) {
      const problem =
        `the service lacks the ${entityType} ${entityId}, or the account the custom field ` +
        `${apiSlug}; check both. ${thrown.message}`
      throw new ConfigError([{ setting: 'custom-fields set:', problem }], { cause: thrown })
    }
    throw thrown
  }
}
