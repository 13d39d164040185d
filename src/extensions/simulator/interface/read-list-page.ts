import type { ResourceObject } from '../../../source/jsonapi/document.js'
import type { ServiceRequest } from './answers.js'
import { mix } from '../world/dice.js'
import type { QueryFault } from '../faults/faults.js'

export interface PageLimits {
  readonly defaultSize: number
  readonly largestSize: number
}

/** A list that can be read at any place. */
export interface PagedList {
  readonly total: number
  readonly slice: (offset: number, limit: number) => ResourceObject[]
}

export interface ListPage {
  readonly data: ResourceObject[]
  readonly links: Record<string, string>
  readonly meta: { readonly size: number; readonly total: number }
}

/**
 * One page with its links. A page beyond the end is empty; a size beyond the limit is silently cut
 * to it, and the links keep the requested size, as the service does.
 */
export function readListPage(
  request: ServiceRequest,
  list: PagedList,
  limits: PageLimits,
  faults: readonly QueryFault[],
): ListPage {
  const asked = positiveInteger(request.query.get('page[size]')) ?? limits.defaultSize
  let size = Math.min(asked, limits.largestSize)
  const number = positiveInteger(request.query.get('page[number]')) ?? 1
  let shown = number
  let slice = list.slice
  for (const fault of faults) {
    switch (fault.kind) {
      case 'capPageSize':
        size = Math.min(size, fault.size)
        break
      case 'repeatPage':
        shown = fault.page
        break
      case 'shuffle':
        slice = shuffledSlice(list, fault.groupSize, mix(fault.salt ?? 0, number))
        break
      default:
        fault satisfies never
    }
  }
  const data = slice((shown - 1) * size, size)
  const pages = Math.max(1, Math.ceil(list.total / size))
  return {
    data,
    links: pageLinks(request, number, pages),
    meta: { size: data.length, total: list.total },
  }
}

function pageLinks(request: ServiceRequest, number: number, pages: number): Record<string, string> {
  const link = (page: number): string => {
    const query = new URLSearchParams(request.query)
    query.delete('page[number]')
    const rest = readable(query)
    return `${request.origin}/v2${request.path}?page[number]=${page}${rest && `&${rest}`}`
  }
  const query = readable(request.query)
  return {
    self: `${request.origin}/v2${request.path}${query && `?${query}`}`,
    current: link(number),
    first: link(1),
    ...(number > 1 ? { prev: link(Math.min(number - 1, pages)) } : {}),
    ...(number < pages ? { next: link(number + 1) } : {}),
    last: link(pages),
  }
}

/** The service writes the brackets of `page[number]` as they are. */
function readable(query: URLSearchParams): string {
  return query.toString().replaceAll('%5B', '[').replaceAll('%5D', ']')
}

function positiveInteger(text: string | null): number | undefined {
  return text !== null && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined
}

/** Positions within each group are turned by a number that differs from page to page. */
function shuffledSlice(list: PagedList, groupSize: number, turn: number): PagedList['slice'] {
  return (offset, limit) => {
    const end = Math.min(offset + limit, list.total)
    const records: ResourceObject[] = []
    for (let position = offset; position < end; position++) {
      const group = Math.floor(position / groupSize) * groupSize
      const length = Math.min(groupSize, list.total - group)
      const moved = group + ((position - group + mix(turn, group)) % length)
      records.push(...list.slice(moved, 1))
    }
    return records
  }
}

/** A short list that is in memory, to be paged like the long ones. */
export function slicesOf(records: readonly ResourceObject[]): PagedList {
  return {
    total: records.length,
    slice: (offset, limit) => records.slice(offset, offset + limit),
  }
}
