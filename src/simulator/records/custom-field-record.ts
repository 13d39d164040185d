import type { ResourceObject } from '../../jsonapi/document.js'
import type { ContainerPlan } from '../plans/container-plan.js'
import { mix } from '../world/dice.js'
import type { Ids } from '../world/ids.js'
import { reference } from './reference-records.js'

/**
 * The definitions of the account. Which container has a value at first is drawn; every container
 * may be given one.
 */
export const CUSTOM_FIELDS = [
  { slug: 'priority', values: ['high', 'normal', 'low'] },
  { slug: 'po_owner', values: ['M. Weber', 'A. Okafor', 'J. Tanaka'] },
  { slug: 'delivery_window', values: ['06:00-10:00', '10:00-14:00', '14:00-18:00'] },
  { slug: 'cost_center', values: ['4100', '4200', '7300'] },
] as const

/** The slot of a definition, or -1 when the account has none of that name. */
export function customFieldSlot(slug: string): number {
  return CUSTOM_FIELDS.findIndex((definition) => definition.slug === slug)
}

/** The value a container has without any edit; undefined for most. */
export function drawnCustomValue(
  seed: number,
  { serial, ordinal }: Pick<ContainerPlan, 'serial' | 'ordinal'>,
  slot: number,
): string | undefined {
  const draw = mix(seed, 0xcf, serial, ordinal, slot)
  const values = CUSTOM_FIELDS[slot]?.values
  return draw % 12 === 0 && values !== undefined ? values[(draw >>> 8) % values.length] : undefined
}

export function customFieldRecord(
  ids: Ids,
  container: Pick<ContainerPlan, 'id' | 'serial' | 'ordinal'>,
  slot: number,
  value: unknown,
): ResourceObject {
  const slug = CUSTOM_FIELDS[slot]?.slug ?? ''
  const shown = typeof value === 'string' ? value : JSON.stringify(value)
  return {
    id: ids.encode('custom_field', container.serial, container.ordinal, slot),
    type: 'custom_field',
    attributes: { api_slug: slug, value, display_value: shown },
    relationships: {
      entity: reference('container', container.id),
      definition: reference('custom_field_definition', ids.encode('custom_field_definition', slot)),
    },
    links: { self: `/v2/containers/${container.id}/custom_fields/${slug}` },
  }
}
