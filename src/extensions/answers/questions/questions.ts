import type { Question } from './question.js'

const SEEN_CHANGES = 'changes are seen from the first load on, by syncs and webhooks'

export const QUESTIONS: Readonly<Record<string, Question>> = {
  arrivals_calendar: {
    columns: `
      arrival_on, port_of_discharge_locode, port_of_discharge_name, shipping_line_scac,
      shipping_line_name, shipments, containers, teu, eta_passed, length_unknown, tracking_stopped,
      zone_unknown`,
    order: 'arrival_on, port_of_discharge_locode, shipping_line_scac',
    key: 'arrival_on, port_of_discharge_locode, shipping_line_scac',
    period: 'arrival_on',
    needs: 'a container on its way whose ETA is within the next 30 days',
    leading: `
      arrival_on, port_of_discharge_locode, shipping_line_scac, shipments, containers, teu,
      eta_passed, tracking_stopped`,
    sums: 'shipments, containers, teu, eta_passed, tracking_stopped',
  },
  carrier_scorecards: {
    columns: `
      shipping_line_scac, shipping_line_name, arrival_quarter_on, arrivals, reliability_n,
      on_time_share, accuracy_n, eta_error_7_days_ahead_hours, transit_n, median_transit_days,
      rollover_n, rollover_free_share, lag_n, lag_median_hours, containers, completeness_n,
      milestone_completeness`,
    order: 'arrival_quarter_on desc, arrivals desc, shipping_line_scac',
    key: 'shipping_line_scac, arrival_quarter_on',
    period: 'arrival_quarter_on',
    needs: 'a shipment that has arrived',
    leading: `
      shipping_line_scac, arrival_quarter_on, arrivals, on_time_share, median_transit_days,
      rollover_free_share, milestone_completeness`,
  },
  changes: {
    columns: `
      change, subject, container_number, from_value, to_value, effect, shift_hours, shift_days,
      change_amount, change_currency_code, learned_at, shipping_line_scac, bill_of_lading_number,
      source, container_id`,
    order: `
      learned_at desc, effect is distinct from 'worse', effect is null, container_id, change,
      subject`,
    key: 'container_id, change, subject, learned_at, from_value, to_value',
    period: 'learned_at',
    needs: `a container of which something changed; ${SEEN_CHANGES}`,
    leading: 'effect, change, subject, container_number, from_value, to_value, learned_at',
  },
  charge_days: {
    columns: `
      container_number, place, charge, charged_on, day_over, charge_amount, currency_code,
      was_available, holds, fees_seen, is_working_day, last_free_on, last_free_source,
      last_free_seen_on, rule_name, pod_terminal, shipping_line_scac, bill_of_lading_number,
      container_id`,
    order: 'container_id, place, charge, charged_on',
    key: 'container_id, place, charge, charged_on',
    period: 'charged_on',
    needs: 'a container past a last free day',
    leading: `
      container_number, place, charge, charged_on, day_over, charge_amount, currency_code,
      was_available`,
    sums: 'charge_amount',
  },
  container_milestones: {
    columns: `
      container_number, bill_of_lading_number, shipping_line_scac, port_of_lading_locode,
      port_of_discharge_locode, destination_locode, current_status, empty_out_local,
      full_in_local, pol_loaded_local, pol_departed_local, pod_eta_local, pod_arrived_local,
      pod_berthed_local, pod_discharged_local, available_local, pickup_appointment_local,
      pod_full_out_local,
      pod_rail_loaded_local, pod_rail_departed_local, ind_eta_local, ind_arrived_local,
      ind_rail_unloaded_local, final_destination_full_out_local, delivered_local,
      empty_terminated_local, container_id`,
    order: 'pod_arrived_at desc nulls last, container_id',
    key: 'container_id',
    period: 'pod_arrived_at',
    needs: 'a container',
    leading: `
      container_number, port_of_discharge_locode, current_status, pod_arrived_local,
      pod_discharged_local`,
  },
  container_stays: {
    columns: `
      container_number, place, terminal_name, place_locode, shipping_line_scac, state, mode,
      days_left, days_over, binding_on, binding_source, terminal_on, line_on, rail_on, service_on,
      start_at, end_at, out_on, is_available, blocking_holds, other_holds, has_begun, has_ended,
      is_zone_known, time_zone, current_status, tracking_stopped_reason, bill_of_lading_number,
      container_id`,
    order: `state = 'unknown', has_ended, days_left nulls last, container_id, place`,
    key: 'container_id, place',
    period: 'binding_on',
    needs: 'a container',
    leading: `
      container_number, place, state, mode, days_left, days_over, binding_on, binding_source`,
  },
  container_timeline: {
    columns: `
      container_number, occurred_at, occurred_local, kind, subject, from_value, to_value,
      detail, location_locode, source, learned_at, is_first_sight, container_id`,
    order: 'container_id, coalesce(occurred_at, learned_at), learned_at, kind, subject',
    key: 'container_id, kind, subject, occurred_at, learned_at, from_value, to_value',
    period: 'coalesce(occurred_at, learned_at)',
    needs: 'a container with an event',
  },
  data_quality: {
    columns: `
      subject_type, subject_id, subject_name, containers, milestones_expected,
      milestones_reported, milestone_completeness, zone_missing, zone_invalid, tracked, stale,
      stopped, stop_reasons, requests, failed_requests, failed_requests_share, lag_n,
      lag_median_hours, lag_p90_hours`,
    order: 'subject_type, containers desc, subject_id',
    key: 'subject_type, subject_id',
    needs: 'a container',
    leading: `
      subject_type, subject_name, containers, milestone_completeness, stale, stopped,
      failed_requests_share`,
  },
  date_corrections: {
    columns: `
      container_number, milestone, kind, from_local, to_local, shift_hours, data_source,
      learned_at, source, pod_terminal, shipping_line_scac, bill_of_lading_number, from_at, to_at,
      container_id`,
    order: 'learned_at desc, container_id, milestone',
    key: 'container_id, milestone, learned_at',
    period: 'learned_at',
    needs: `a milestone that was corrected; ${SEEN_CHANGES}`,
    leading: 'container_number, milestone, from_local, to_local, shift_hours, data_source',
  },
  demurrage_evidence: {
    columns: `
      container_number, seen_local, gone_local, place, kind, subject, value, amount,
      currency_code, source, is_open, is_start_known, last_free_on, pod_discharged_local, pod_full_out_local,
      pod_terminal, shipping_line_scac, bill_of_lading_number, container_id`,
    order: 'container_id, seen_at, kind, subject',
    key: 'container_id, place, kind, subject, seen_at',
    period: 'seen_at',
    needs: 'a container with a hold, a fee or a last free day',
  },
  demurrage_exposure: {
    columns: `
      container_number, place, pod_terminal, shipping_line_scac, state, days_over, binding_on,
      binding_source, fee_amount, fee_currency_code, fees_by_currency, is_total_different,
      fees_unreadable, estimate_amount, estimate_currency_code, days_without_rate, out_on,
      tracking_stopped_reason, bill_of_lading_number, container_id`,
    order: `state = 'unknown', out_on is not null, days_over desc nulls last, container_id, place`,
    key: 'container_id, place',
    period: 'binding_on',
    needs: 'a container past its last free day',
    leading: `
      container_number, place, state, days_over, binding_on, fee_amount, fee_currency_code,
      estimate_amount, estimate_currency_code`,
    sums: 'fee_amount, estimate_amount',
  },
  detention_clock: {
    columns: `
      container_number, state, return_by_on, days_left, days_over, amount, next_day_amount,
      currency_code, free_days, gate_out_on, returned_on, rule_name, has_rule, days_without_rate,
      shipping_line_scac, pod_terminal, time_zone, bill_of_lading_number, container_id`,
    order: `state = 'unknown', returned_on is not null, days_left nulls last, container_id`,
    key: 'container_id',
    period: 'gate_out_on',
    needs: 'a container that left the terminal',
    leading: `
      container_number, state, return_by_on, days_left, amount, next_day_amount, currency_code`,
    sums: 'amount, next_day_amount',
  },
  empty_return_times: {
    columns: `
      container_number, shipping_line_scac, state, days, calendar_days, full_out_local,
      empty_terminated_local, equipment_type, equipment_length, is_tracking_stopped,
      bill_of_lading_number, container_id`,
    order: 'state desc, days desc nulls last, container_id',
    key: 'container_id',
    period: 'full_out_at',
    needs: 'a container that was picked up full',
  },
  eta_accuracy: {
    columns: `
      cut, period, subject, horizon, horizon_from_days, n, shipments, mean_absolute_error_hours,
      bias_hours, within_24_hours_share, is_single, shipping_line_scac, shipping_line_name,
      port_of_lading_locode, port_of_discharge_locode, pod_vessel_imo, pod_vessel_name`,
    order: `cut <> 'line', cut, period, subject, pod_vessel_imo, horizon_from_days`,
    key: `
      cut, period, shipping_line_scac, port_of_lading_locode, port_of_discharge_locode,
      pod_vessel_imo, pod_vessel_name, horizon`,
    needs: `two shipments of a line, lane or vessel that arrived after they were first loaded (\`--at-least 1\` shows single ones): ${SEEN_CHANGES}, so a new warehouse has rows after some days`,
    leading: `
      cut, period, subject, horizon, shipments, mean_absolute_error_hours, bias_hours,
      within_24_hours_share`,
  },
  eta_changes: {
    columns: `
      bill_of_lading_number, shipping_line_scac, port_of_lading_locode,
      port_of_discharge_locode, changed_at, from_eta_local, to_eta_local, slip_hours, kind,
      source, is_voyage_changed, shipment_id`,
    order: 'changed_at desc, shipment_id',
    key: 'shipment_id, changed_at',
    period: 'changed_at',
    needs: `a shipment whose ETA moved: ${SEEN_CHANGES}`,
  },
  exceptions: {
    columns: `
      severity, exception, container_number, sentence, hours, cost_amount, cost_currency_code,
      since_at, shipping_line_scac, bill_of_lading_number, container_id`,
    order: `
      case severity when 'high' then 1 when 'medium' then 2 else 3 end, exception <> 'overdue',
      hours desc nulls last, container_id, exception`,
    key: `container_id, exception, case when exception = 'hold_new' then sentence end`,
    clock: 'hours, since_at',
    period: 'since_at',
    needs: 'a container that is not where it should be',
    leading: 'exception, container_number, cost_amount, cost_currency_code, sentence',
    sums: 'cost_amount',
  },
  exposure_forecast: {
    columns: `
      container_number, place, charge, state, last_free_on, days_left, amount, seven_days_amount,
      fourteen_days_amount, currency_code, rule_name, last_free_source, shipping_line_scac,
      pod_terminal, bill_of_lading_number, container_id`,
    order: 'fourteen_days_amount desc, container_id, place, charge',
    key: 'container_id, place, charge',
    period: 'last_free_on',
    needs: 'a container whose free time runs, and a rule for it: `tracking-sync rules import`',
    leading: `
      container_number, place, charge, days_left, amount, seven_days_amount, fourteen_days_amount,
      currency_code`,
    sums: 'amount, seven_days_amount, fourteen_days_amount',
  },
  fee_history: {
    columns: `
      container_number, pod_terminal, shipping_line_scac, fee_type, amount_before, amount,
      change_amount, currency_code, is_total, seen_local, gone_local, is_open, is_start_known,
      source, bill_of_lading_number, container_id`,
    order: 'container_id, fee_key, seen_at',
    key: 'container_id, fee_key, seen_at',
    period: 'seen_at',
    needs: 'a container with a fee',
  },
  freshness: {
    columns: `
      stream, last_complete_run_id, last_outcome, last_detail, age_hours, rows,
      last_complete_started_at, last_complete_finished_at, last_started_at`,
    order: 'stream',
    key: 'stream',
    needs: 'a first `tracking-sync backfill`',
    isOfNow: true,
  },
  hold_durations: {
    columns: `
      container_number, pod_terminal, shipping_line_scac, hold_name, status, description,
      hours, placed_local, cleared_local, is_open, is_start_known, source,
      bill_of_lading_number, container_id`,
    order: 'is_open desc, hours desc nulls last, container_id, hold_key',
    key: 'container_id, hold_key, placed_at',
    clock: 'hours',
    period: 'placed_at',
    needs: 'a container with a hold',
  },
  invoice_audit: {
    columns: `
      invoice_number, line_number, container_number, charge, verdict, disputable_amount,
      dispute_by_on, days_claimed, days_ours, amount, net_amount, amount_ours, difference_amount,
      currency_code, disputable_by_cause, reasons, missing_items, also_charged_text,
      days_without_rate, days_free_then, days_unavailable, days_unknown, days_on_hold, free_days,
      rule_free_days, free_from_on, clock_on, free_to_on, last_free_on, available_on,
      available_seen_on, charged_from_on, charged_to_on, issued_on, issuer, rule_name, place,
      shipping_line_scac, pod_terminal, bill_of_lading_number, container_id`,
    order: 'issued_on desc nulls last, issuer, invoice_number, line_number',
    key: 'issuer, invoice_number, line_number',
    period: 'issued_on',
    needs: 'a line of an invoice: `tracking-sync invoices import`',
    leading: `
      invoice_number, container_number, verdict, disputable_amount, currency_code, reasons`,
    sums: 'amount, net_amount, amount_ours, difference_amount, disputable_amount',
  },
  last_free_days: {
    columns: `
      container_number, place, place_locode, pod_terminal, shipping_line_scac, state, days_left,
      days_over, binding_on, binding_source, line_on, terminal_on, rail_on, service_on, today_on,
      out_on, current_status, bill_of_lading_number, container_id`,
    order: `state = 'unknown', has_ended, days_left nulls last, container_id, place`,
    key: 'container_id, place',
    clock: 'today_on',
    period: 'binding_on',
    needs: 'a container',
    leading: `
      container_number, place, state, days_left, days_over, binding_on, binding_source`,
  },
  pickup_worklist: {
    columns: `
      container_number, terminal_name, terminal_city, place, place_locode, pickup_facility_name,
      shipping_line_scac, is_ready, state, days_left, binding_on, binding_source, blockers,
      other_holds, days_there, is_long_there, pickup_appointment_local, start_local,
      current_status, tracking_stopped_reason, bill_of_lading_number, container_id`,
    order: `state = 'unknown', case when is_long_there then 0 else days_left end nulls last, start_at, container_id`,
    key: 'container_id, place',
    period: 'binding_on',
    needs: 'a container that a truck can fetch and that has not been picked up',
    leading: `
      container_number, terminal_name, place, state, days_left, binding_on, is_ready, blockers`,
  },
  port_waits: {
    columns: `
      terminal_name, port_locode, week_on, stage, n, median_hours, p90_hours, still_waiting,
      longest_waiting_hours, estimated_median_hours, estimated_p90_hours, not_measured,
      zone_unknown, terminal_id`,
    order: 'week_on desc, terminal_name, terminal_id, port_locode, stage',
    key: 'terminal_id, port_locode, week_on, stage',
    period: 'week_on',
    needs: 'a container that arrived at its port of discharge',
    leading: `
      terminal_name, week_on, stage, n, median_hours, still_waiting, estimated_median_hours,
      estimated_p90_hours`,
  },
  rail_legs: {
    columns: `
      container_number, shipping_line_scac, port_of_discharge_locode, destination_locode,
      stage, hours_in_stage, discharged_to_loaded_hours, loaded_to_departed_hours,
      departed_to_arrived_hours, arrived_to_unloaded_hours, unloaded_to_picked_up_hours,
      discharged_to_picked_up_hours, pod_rail_carrier_scac, ind_rail_carrier_scac,
      is_in_order, bill_of_lading_number, container_id`,
    order: 'stage, hours_in_stage desc nulls last, container_id',
    key: 'container_id',
    clock: 'hours_in_stage',
    period: 'pod_discharged_at',
    needs: 'a container that goes on by rail',
  },
  rule_comparisons: {
    columns: `
      container_number, place, charge, rule_name, difference, days_apart, clock_on, free_days,
      counts, by_rule_on, compared_on, shipping_line_scac, pod_terminal, bill_of_lading_number,
      container_id`,
    order: `
      difference = 'same', rule_name, difference, abs(days_apart) desc, container_id, place, charge`,
    key: 'container_id, place, charge',
    period: 'clock_on',
    needs: 'a rule with free days for a container whose last free day is reported too',
    leading: 'container_number, charge, difference, days_apart, by_rule_on, compared_on, rule_name',
  },
  schedule_reliability: {
    columns: `
      arrival_month_on, shipping_line_scac, shipping_line_name, port_of_lading_locode,
      port_of_discharge_locode, n, on_time, early, late, not_measured, on_time_share,
      mean_delay_of_late_days, mean_delay_days`,
    order:
      'arrival_month_on desc, n desc, shipping_line_scac, port_of_lading_locode, port_of_discharge_locode',
    key: 'arrival_month_on, shipping_line_scac, port_of_lading_locode, port_of_discharge_locode',
    period: 'arrival_month_on',
    needs: 'a shipment that has arrived',
  },
  status_durations: {
    columns: `
      container_number, shipping_line_scac, status, hours, is_current, is_start_known,
      first_seen_at, ended_at, bill_of_lading_number, container_id`,
    order: 'container_id, first_seen_at',
    key: 'container_id, status',
    clock: 'hours',
    period: 'first_seen_at',
    needs: 'a container with a status',
  },
  terminal_dwell: {
    columns: `
      terminal_name, port_locode, mode, discharge_week_on, n, mean_days, median_days,
      p90_days, over_5_days_share, still_there, still_there_not_tracked,
      still_there_mean_age_days, still_there_max_age_days, not_measured, zone_unknown,
      terminal_id`,
    order: 'discharge_week_on desc, terminal_name, mode',
    key: 'terminal_id, port_locode, discharge_week_on, mode',
    period: 'discharge_week_on',
    needs: 'a container that was discharged',
  },
  transit_times: {
    columns: `
      cut, period, arrival_month_on, subject, n, not_measured, mean_days, p10_days, median_days,
      p90_days, zone_unknown, is_single, port_of_lading_locode, port_of_discharge_locode,
      shipping_line_scac, shipping_line_name, pod_vessel_imo, pod_vessel_name`,
    order: 'cut, period, arrival_month_on desc, n desc, subject, pod_vessel_imo',
    key: `
      cut, period, arrival_month_on, shipping_line_scac, port_of_lading_locode,
      port_of_discharge_locode, pod_vessel_imo, pod_vessel_name`,
    period: 'arrival_month_on',
    needs: 'two shipments of a lane that have arrived (`--at-least 1` shows single ones)',
    leading: 'cut, period, arrival_month_on, subject, n, median_days, p10_days, p90_days',
  },
  transshipments: {
    columns: `
      container_number, shipping_line_scac, location_locode, location_name, arrived_local,
      discharged_local, loaded_local, departed_local, dwell_hours, hours_so_far, is_waiting,
      vessel_in_name, vessel_out_name, is_tracking_stopped, container_id`,
    order: 'is_waiting desc, arrived_at desc nulls last, container_id, location_locode',
    key: 'container_id, location_locode',
    clock: 'hours_so_far',
    period: 'arrived_at',
    needs: 'a container that changed ships',
  },
}
