import fc from 'fast-check'
import type { ResourceObject } from '../../../src/source/jsonapi/document.js'
import type { Fault, FaultScript } from '../../../src/extensions/simulator/faults/faults.js'
import type { Simulator } from '../../../src/extensions/simulator/server.js'

/** A fault of the service during one run. */
export type Disturbance =
  | { readonly kind: 'none' }
  /** Its clock is wrong, in some answers or all. */
  | {
      readonly kind: 'skew'
      readonly value: string | null | { readonly offsetMs: number }
      readonly after: number
      /** Null: always. */
      readonly times: number | null
    }
  | { readonly kind: 'attributeNew'; readonly type: string }
  | { readonly kind: 'attributeGone'; readonly type: string; readonly name: string }
  | {
      readonly kind: 'badValue'
      readonly type: string
      readonly name: string
      readonly value: unknown
    }
  /** One record of each answer cannot be told who it is. */
  | { readonly kind: 'badRecord'; readonly type: string; readonly at: number; readonly id: unknown }
  | { readonly kind: 'capped'; readonly size: number }
  | { readonly kind: 'shuffled'; readonly groupSize: number; readonly salt: number }
  | { readonly kind: 'includesRefused' }
  /** It answers so many requests and then stops answering. */
  | { readonly kind: 'down'; readonly after: number }

/** An attribute that no version of the service is known to have. */
export const DRIFT_MARK = { seal_color: 'red' }

const TYPES = ['shipment', 'container', 'transport_event', 'tracking_request']

/**
 * Values of transport events are never wrong here: where events do not come included, they are read
 * again only when their container's list of them changes.
 */
export const disturbances: fc.Arbitrary<Disturbance> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Disturbance>({ kind: 'none' }) },
  fc.record({
    kind: fc.constant('skew' as const),
    value: fc.constantFrom(
      { offsetMs: -7_200_000 },
      { offsetMs: -90_000 },
      { offsetMs: 5_000 },
      { offsetMs: 7_200_000 },
      null,
      'yesterday, at noon',
    ),
    after: fc.nat(4),
    times: fc.constantFrom(1, 3, null),
  }),
  fc.record({ kind: fc.constant('attributeNew' as const), type: fc.constantFrom(...TYPES) }),
  fc.constantFrom<Disturbance>(
    { kind: 'attributeGone', type: 'shipment', name: 'customer_name' },
    { kind: 'attributeGone', type: 'container', name: 'seal_number' },
    { kind: 'attributeGone', type: 'container', name: 'holds_at_pod_terminal' },
  ),
  fc.constantFrom<Disturbance>(
    { kind: 'badValue', type: 'container', name: 'weight_in_lbs', value: 'heavy' },
    { kind: 'badValue', type: 'container', name: 'pickup_lfd', value: 'soon' },
    { kind: 'badValue', type: 'container', name: 'holds_at_pod_terminal', value: 'none' },
    { kind: 'badValue', type: 'shipment', name: 'pod_eta_at', value: { at: 'noon' } },
  ),
  fc.record({
    kind: fc.constant('badRecord' as const),
    type: fc.constantFrom(...TYPES),
    at: fc.nat(5),
    id: fc.constantFrom<unknown>('', null, 7, undefined),
  }),
  fc.record({ kind: fc.constant('capped' as const), size: fc.integer({ min: 1, max: 2 }) }),
  fc.record({
    kind: fc.constant('shuffled' as const),
    groupSize: fc.integer({ min: 2, max: 7 }),
    salt: fc.nat(99),
  }),
  fc.constant<Disturbance>({ kind: 'includesRefused' }),
  fc.record({ kind: fc.constant('down' as const), after: fc.nat(8) }),
)

/** Puts the disturbance in force; undefined for none. The handle ends it and says how often it met. */
export function disturb(
  { faults }: Simulator,
  disturbance: Disturbance,
): ReturnType<FaultScript['add']> | undefined {
  const always = (fault: Fault) => faults.add({ fault, times: Infinity })
  switch (disturbance.kind) {
    case 'none':
      return undefined
    case 'skew': {
      const { value, after, times } = disturbance
      return faults.add({ fault: { kind: 'dateHeader', value }, after, times: times ?? Infinity })
    }
    case 'attributeNew':
      return always(rewrite(disturbance.type, (record) => withAttributes(record, DRIFT_MARK)))
    case 'attributeGone':
      // JSON leaves out what is undefined.
      return always(
        rewrite(disturbance.type, (record) =>
          withAttributes(record, { [disturbance.name]: undefined }),
        ),
      )
    case 'badValue': {
      const { type, name, value } = disturbance
      return always(rewrite(type, (record) => withAttributes(record, { [name]: value })))
    }
    case 'badRecord': {
      const { type, at, id } = disturbance
      return always(rewrite(type, (record, index) => (index === at ? { ...record, id } : record)))
    }
    case 'capped':
      return always({ kind: 'capPageSize', size: disturbance.size })
    case 'shuffled':
      return always({ ...disturbance, kind: 'shuffle' })
    case 'includesRefused':
      return faults.add({
        fault: {
          kind: 'status',
          status: 400,
          body: JSON.stringify({
            errors: [{ status: '400', title: 'Invalid include', source: { parameter: 'include' } }],
          }),
        },
        match: ({ query }) => (query.get('include') ?? '') !== '',
        times: Infinity,
      })
    case 'down':
      return faults.add({
        fault: { kind: 'status', status: 503 },
        after: disturbance.after,
        times: Infinity,
      })
    default:
      return disturbance satisfies never
  }
}

function withAttributes(record: ResourceObject, more: Readonly<Record<string, unknown>>): unknown {
  return { ...record, attributes: { ...record.attributes, ...more } }
}

/**
 * Changes the records of a type in every list, primary and included ones; `index` counts those of
 * the type.
 */
function rewrite(type: string, change: (record: ResourceObject, index: number) => unknown): Fault {
  const apply = (records: unknown): unknown => {
    if (!Array.isArray(records)) return records
    let index = -1
    return (records as ResourceObject[]).map((record) => {
      if (record.type !== type) return record
      index += 1
      return change(record, index)
    })
  }
  return {
    kind: 'transform',
    apply: (document) => {
      const { data, included, ...rest } = document as { data: unknown; included?: unknown }
      return { ...rest, data: apply(data), included: apply(included) }
    },
  }
}
