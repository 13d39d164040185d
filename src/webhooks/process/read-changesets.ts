import { ApiContractError } from '../../base/errors.js'
import { isObject, membersOf } from '../../jsonapi/document.js'
import { readIdentity } from '../../resources/flatten.js'
import { toStorableJson, toStorableText } from '../../resources/storable-text.js'
import { checkTimestamp } from '../../resources/timestamp.js'
import type { ContainerChange } from '../../warehouse/rows/changed-attributes.js'
import { readLinkage } from '../receive/delivery.js'

/** Longer names are no attributes, and a key could not hold them. */
const LONGEST_NAME = 255

/**
 * The changes in included records: `changeset: {attribute: [old, new]}` of a
 * `container_updated_event`, or of any type that has a changeset and a container. A value that is
 * not a pair counts as the new one. A record without a usable time happened when its notification
 * was made. Anything else is skipped: the record itself is stored whole.
 */
export function readChangesets(
  included: readonly unknown[],
  notification: { readonly notificationId: string; readonly observedAt: Date },
): ContainerChange[] {
  return included.flatMap((record) => {
    const { attributes, relationships, type } = membersOf(record)
    const { changeset, timestamp, data_source: source, timezone } = membersOf(attributes)
    const container = readLinkage(membersOf(relationships).container)
    if (type === 'container' || container === undefined || !isObject(changeset)) return []
    const changeId = idOf(record)
    if (changeId === undefined) return []
    const isTimed = typeof timestamp === 'string' && checkTimestamp(timestamp).isValid
    const frame = {
      ...notification,
      containerId: container.id,
      changeId,
      changedAt: isTimed ? timestamp : notification.observedAt.toISOString(),
      dataSource: textOrNull(source),
      timezone: textOrNull(timezone),
    }
    return Object.entries(changeset).flatMap(([name, value]) => {
      const attribute = toStorableText(name).text
      if (attribute === '' || attribute.length > LONGEST_NAME) return []
      const isPair = Array.isArray(value) && value.length === 2
      const [oldValue, newValue] = isPair ? (value as readonly unknown[]) : [undefined, value]
      return [
        { ...frame, attribute, oldValue: jsonOrNull(oldValue), newValue: jsonOrNull(newValue) },
      ]
    })
  })
}

function idOf(record: unknown): string | undefined {
  try {
    return readIdentity(record).id
  } catch (thrown) {
    // Such a record is set aside with its reason elsewhere.
    if (thrown instanceof ApiContractError) return undefined
    throw thrown
  }
}

function jsonOrNull(value: unknown): string | null {
  return value === undefined ? null : toStorableJson(value).text
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? toStorableText(value).text : null
}
