/**
 * What `query` says about an answer beyond its rows. One line a question, checked against its
 * columns by a test.
 */
export interface QuestionNote {
  /** Shown first where a table must fit a terminal; the other columns follow as they fit. */
  readonly leading?: readonly string[]
  /** What it needs before it has rows: told with an empty answer. */
  readonly needs: string
  /** Columns with a total below the table; money by currency. */
  readonly sums?: readonly string[]
  /** It answers for the present only: `--as-of` changes nothing. */
  readonly isOfNow?: boolean
}

const SEEN_CHANGES = 'changes are seen from the first load on, by syncs and webhooks'

export const QUESTION_NOTES: Readonly<Record<string, QuestionNote>> = {
  arrivals_calendar: {
    needs: 'a container on its way whose ETA is within the next 30 days',
    leading: [
      'arrival_on',
      'port_of_discharge_locode',
      'shipping_line_scac',
      'shipments',
      'containers',
      'teu',
      'tracking_stopped',
    ],
    sums: ['shipments', 'containers', 'teu', 'tracking_stopped'],
  },
  carrier_scorecards: {
    leading: [
      'shipping_line_scac',
      'arrival_quarter_on',
      'arrivals',
      'on_time_share',
      'median_transit_days',
      'rollover_free_share',
      'milestone_completeness',
    ],
    needs: 'a shipment that has arrived',
  },
  container_milestones: {
    leading: [
      'container_number',
      'port_of_discharge_locode',
      'current_status',
      'pod_arrived_local',
      'pod_discharged_local',
    ],
    needs: 'a container',
  },
  container_timeline: { needs: 'a container with an event' },
  data_quality: {
    leading: [
      'subject_type',
      'subject_name',
      'containers',
      'milestone_completeness',
      'stale',
      'stopped',
      'failed_requests_share',
    ],
    needs: 'a container',
  },
  demurrage_evidence: {
    needs: 'a container with a hold, a fee or a last free day',
  },
  demurrage_exposure: {
    leading: [
      'container_number',
      'state',
      'days_over',
      'last_free_on',
      'fee_amount',
      'fee_currency_code',
      'estimate_amount',
      'estimate_currency_code',
    ],
    needs: 'a container past its last free day',
    sums: ['fee_amount', 'estimate_amount'],
  },
  empty_return_times: { needs: 'a container that was picked up full' },
  eta_accuracy: {
    needs: `a shipment that arrived after it was first loaded: ${SEEN_CHANGES}, so a new warehouse has rows after some days`,
  },
  eta_changes: { needs: `a shipment whose ETA moved: ${SEEN_CHANGES}` },
  fee_history: { needs: 'a container with a fee' },
  freshness: { needs: 'a first `tracking-sync backfill`', isOfNow: true },
  hold_durations: { needs: 'a container with a hold' },
  last_free_days: { needs: 'a container with a last free day' },
  pickup_worklist: {
    leading: [
      'container_number',
      'pod_terminal',
      'place',
      'days_left',
      'last_free_on',
      'is_ready',
      'blockers',
    ],
    needs: 'a container that can be picked up and has not been',
  },
  rail_legs: { needs: 'a container that goes on by rail' },
  schedule_reliability: { needs: 'a shipment that has arrived' },
  status_durations: { needs: 'a container with a status' },
  terminal_dwell: { needs: 'a container that was discharged' },
  transit_times: { needs: 'a shipment that has arrived' },
  transshipments: { needs: 'a container that changed ships' },
}
