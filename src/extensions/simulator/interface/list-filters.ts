import type { ResourceObject } from '../../../source/jsonapi/document.js'
import { errorAnswer, type Answer, type ServiceRequest } from './answers.js'
import { slicesOf, type PagedList } from './read-list-page.js'
import type { ListedType, World } from '../world/world.js'

/** `ignore`: as without the filter. `refuse`: a 400. */
export type FilterRule = 'obey' | 'ignore' | 'refuse'

type Keep = (record: ResourceObject) => boolean

/** By type and parameter; undefined for a value that is not valid. */
const FILTERS: Partial<Record<ListedType, Record<string, (value: string) => Keep | undefined>>> = {
  shipment: {
    'filter[tracking_stopped]': (value) =>
      value === 'true' || value === 'false'
        ? ({ attributes }) =>
            ((attributes?.line_tracking_stopped_at ?? null) !== null) === (value === 'true')
        : undefined,
  },
  tracking_request: {
    'filter[updated_at][start]': (value) =>
      Number.isNaN(Date.parse(value))
        ? undefined
        : ({ attributes }) => Date.parse(String(attributes?.updated_at)) >= Date.parse(value),
  },
}

/**
 * The filtered part of a list; undefined without a filter to obey. Walks the whole list for each
 * page.
 */
export function filteredList(
  { world, filters }: { readonly world: World; readonly filters: FilterRule },
  { query, at }: ServiceRequest,
  type: ListedType,
): PagedList | Answer | undefined {
  const asked = Object.entries(FILTERS[type] ?? {}).filter(([name]) => query.has(name))
  if (asked.length === 0 || filters === 'ignore') return undefined
  const keeps: Keep[] = []
  for (const [name, read] of asked) {
    const keep = filters === 'refuse' ? undefined : read(query.get(name) ?? '')
    if (keep === undefined) {
      return errorAnswer(400, 'Bad Request', `${name} is not a filter of this list.`)
    }
    keeps.push(keep)
  }
  const records = [...world.records(type, at)]
  return slicesOf(records.filter((record) => keeps.every((keep) => keep(record))))
}
