import type { Changeset } from './occurrence.js'

/** The service moves them at each of its looks, so a change of them is not news. */
const VOLATILE: ReadonlySet<string> = new Set([
  'terminal_checked_at',
  'pod_last_tracking_request_at',
  'shipment_last_tracking_request_at',
  'rail_last_tracking_request_at',
])

type Attributes = Readonly<Record<string, unknown>>

/** The attributes that changed; undefined when none changed that is worth a notification. */
export function containerChangeset(before: Attributes, after: Attributes): Changeset | undefined {
  const changeset: Record<string, readonly [unknown, unknown]> = {}
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (VOLATILE.has(name)) continue
    const [old = null, now = null] = [before[name], after[name]]
    if (old !== now && JSON.stringify(old) !== JSON.stringify(now)) changeset[name] = [old, now]
  }
  return Object.keys(changeset).length === 0 ? undefined : changeset
}

/** Attributes that only a terminal reports. */
const FROM_TERMINAL: ReadonlySet<string> = new Set([
  'available_for_pickup',
  'holds_at_pod_terminal',
  'fees_at_pod_terminal',
  'ind_facility_holds',
  'ind_facility_fees',
  'pickup_appointment_at',
  'location_at_pod_terminal',
  'pod_full_out_chassis_number',
])

/** The source that reported a change. */
export function sourceOfChange(changeset: Changeset): 'terminal' | 'shipping_line' {
  return Object.keys(changeset).some((name) => FROM_TERMINAL.has(name))
    ? 'terminal'
    : 'shipping_line'
}
