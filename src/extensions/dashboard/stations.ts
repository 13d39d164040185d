import { asText } from './page-tables.js'
import type { PanelRow } from './picture-options.js'

/** A milestone at a place: wall time there, or the time at which it is expected. */
export interface Milestone {
  readonly text: string
  readonly at: string
  readonly isExpected?: true
}

export interface Station {
  /** Its part in the journey. */
  readonly role: string
  readonly place: string
  readonly state: 'done' | 'now' | 'expected'
  readonly milestones: readonly Milestone[]
  /** The way from here to the next station, where it is under way now. */
  readonly isLeft: boolean
}

interface Draft {
  readonly role: string
  readonly place: string
  /** Names of columns with the words for them, in the order in which they happen. */
  readonly milestones: readonly (readonly [column: string, text: string])[]
  /** Until the milestone of `instead` has happened. */
  readonly expected?: { readonly column: string; readonly text: string; readonly instead: string }
  /** Columns that say it has gone on from here. */
  readonly left: readonly string[]
  /** Shown only where it is known to be part of the journey. */
  readonly isPart: boolean
}

/** The places of a journey in order, each with the milestones that are known. */
export function stationsOf(journey: PanelRow, stops: readonly PanelRow[]): Station[] {
  const drafts = draftsOf(journey, stops).filter(({ draft }) => draft.isPart)
  const has = (row: PanelRow, columns: readonly string[]): boolean =>
    columns.some((column) => asText(row[column]) !== '')
  const begun = drafts.map(({ draft, row }) =>
    has(
      row,
      draft.milestones.map(([column]) => column),
    ),
  )
  const last = begun.lastIndexOf(true)
  return drafts.map(({ draft, row }, index) => {
    const isLeft = has(row, draft.left)
    const milestones = draft.milestones.flatMap(([column, text]): Milestone[] => {
      const at = asText(row[column])
      return at === '' ? [] : [{ text, at }]
    })
    const { column = '', text = '', instead = '' } = draft.expected ?? {}
    const at = asText(row[column])
    const isExpected = index >= last && !isLeft && asText(row[instead]) === ''
    if (at !== '' && isExpected) milestones.push({ text, at, isExpected })
    const isLast = index === drafts.length - 1
    const state =
      index < last || (index === last && (isLeft || (isLast && draft.left.length === 0)))
        ? 'done'
        : index === last
          ? 'now'
          : 'expected'
    return { role: draft.role, place: draft.place, state, milestones, isLeft }
  })
}

interface DraftOfRow {
  readonly draft: Draft
  readonly row: PanelRow
}

function draftsOf(journey: PanelRow, stops: readonly PanelRow[]): DraftOfRow[] {
  const name = (column: string, unnamed: string): string => asText(journey[column]) || unnamed
  const isByRail = ['pod_rail_loaded_local', 'ind_arrived_local', 'ind_eta_local', 'ramp'].some(
    (column) => asText(journey[column]) !== '',
  )
  const terminal = asText(journey.terminal)
  const port = name('port', 'Port of discharge')
  return [
    {
      row: journey,
      draft: {
        role: 'Port of lading',
        place: name('origin', 'Port of lading'),
        milestones: [
          ['empty_out_local', 'Empty picked up'],
          ['full_in_local', 'In at the port'],
          ['pol_loaded_local', 'Loaded'],
          ['pol_departed_local', 'Departed'],
        ],
        expected: { column: 'pol_etd_local', text: 'Departs', instead: 'pol_departed_local' },
        left: ['pol_departed_local'],
        isPart: true,
      },
    },
    ...stops.map((stop): DraftOfRow => ({
      row: stop,
      draft: {
        role: 'Transshipment',
        place: asText(stop.place),
        milestones: [
          ['arrived_local', 'Arrived'],
          ['discharged_local', 'Discharged'],
          ['loaded_local', 'Loaded'],
          ['departed_local', 'Departed'],
        ],
        left: ['departed_local'],
        isPart: true,
      },
    })),
    {
      row: journey,
      draft: {
        role: 'Port of discharge',
        place:
          terminal === '' ? port : terminal.startsWith(port) ? terminal : `${port}, ${terminal}`,
        milestones: [
          ['pod_arrived_local', 'Arrived'],
          ['pod_berthed_local', 'Berthed'],
          ['pod_discharged_local', 'Discharged'],
          ['available_local', 'Available'],
          ['pod_rail_loaded_local', 'On the train'],
          ['pod_rail_departed_local', 'Left by rail'],
          ['pod_full_out_local', 'Picked up'],
        ],
        expected: { column: 'pod_eta_local', text: 'Arrives', instead: 'pod_arrived_local' },
        left: ['pod_full_out_local', 'pod_rail_departed_local'],
        isPart: true,
      },
    },
    {
      row: journey,
      draft: {
        role: 'Inland ramp',
        place: asText(journey.ramp) || name('destination', 'Inland ramp'),
        milestones: [
          ['ind_arrived_local', 'Arrived'],
          ['ind_rail_unloaded_local', 'Unloaded'],
          ['final_destination_full_out_local', 'Picked up'],
        ],
        expected: { column: 'ind_eta_local', text: 'Arrives', instead: 'ind_arrived_local' },
        left: ['final_destination_full_out_local'],
        isPart: isByRail,
      },
    },
    {
      row: journey,
      draft: {
        role: 'Delivery and return',
        place: name('customer_name', 'Customer'),
        milestones: [
          ['delivered_local', 'Delivered'],
          ['empty_terminated_local', 'Empty returned'],
        ],
        left: ['empty_terminated_local'],
        isPart: true,
      },
    },
  ]
}
