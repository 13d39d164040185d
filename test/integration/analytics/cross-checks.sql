-- Views that look at the same facts from two sides must agree: the two queries of a check have the
-- same rows, as often as each other. A check that is "of now" compares with a table that knows the
-- present only; the others are second proofs, unless they are "in every run".

-- check: overdue and late containers are the exposed ones, with the same days
select container_id, place, days_over, binding_on, out_on
from tracking_analytics.demurrage_exposure where state <> 'unknown';
select container_id, place, coalesce(out_on, today_on) - binding_on, binding_on, out_on
from tracking_analytics.last_free_days where state in ('overdue', 'out_late');

-- check: every container has one stay at the port
select container_id from tracking_analytics.last_free_days where place = 'port';
select container_id from tracking_analytics.journey;

-- check: the worklist and the last free days name the same day and the same days left
select container_id, place, binding_on, days_left from tracking_analytics.pickups;
select container_id, place, binding_on, days_left from tracking_analytics.last_free_days
where (container_id, place) in (select container_id, place from tracking_analytics.pickups);

-- check: what is to be picked up at the port has landed, is not out and does not go on by rail
-- in every run
select container_id from tracking_analytics.pickups where place = 'port';
select container_id from tracking_analytics.journey
where pod_discharged_at is not null and pod_rail_departed_at is null and pod_full_out_at is null
  and final_destination_full_out_at is null and empty_terminated_at is null
  and container_id not in (select container_id from tracking_analytics.rail)
  and container_id not in (
    select container_id from tracking_analytics.container_stays where place = 'ramp'
  );

-- check: dwell counts the containers that have both ends
select pod_terminal_id, count(*) from tracking_analytics.journey
where least(pod_full_out_at, pod_rail_departed_at) >= pod_discharged_at group by 1;
select terminal_id, sum(n)::bigint from tracking_analytics.terminal_dwell group by 1 having sum(n) > 0;

-- check: every discharged container is in one count of the dwell
select pod_terminal_id, count(*) from tracking_analytics.journey where pod_discharged_at is not null group by 1;
select terminal_id, sum(n + still_there + not_measured)::bigint from tracking_analytics.terminal_dwell group by 1;

-- check: rail legs have the milestones of the container
select container_id, pod_rail_loaded_at, pod_rail_departed_at, ind_ata_at, pod_rail_loaded_local, ind_ata_local from tracking_analytics.rail;
select container_id, pod_rail_loaded_at, pod_rail_departed_at, ind_arrived_at, pod_rail_loaded_local, ind_arrived_local
from tracking_analytics.journey
where container_id in (select container_id from tracking_analytics.rail);

-- check: the tables of the export have the milestones of the container
-- of now
select container_id, empty_out_at, pol_loaded_at, pod_berthed_at, pod_arrived_at_local, empty_out_at_local from tracking_datasync.containers;
select container_id, empty_out_at at time zone 'UTC', pol_loaded_at at time zone 'UTC', pod_berthed_at at time zone 'UTC',
  to_char(pod_arrived_local, 'YYYY-MM-DD HH24:MI:SS'), to_char(empty_out_local, 'YYYY-MM-DD HH24:MI:SS')
from tracking_analytics.journey;

-- check: the slips of an ETA add up to the way from the first to the last
select shipment_id, sum(slip_hours) from tracking_analytics.eta_changes group by 1;
select shipment_id, round((extract(epoch from
    (array_agg(to_eta_at order by changed_at desc))[1] - (array_agg(from_eta_at order by changed_at))[1]
  ) / 3600)::numeric, 2)
from tracking_analytics.eta_changes group by 1;

-- check: the last change of an ETA leads to the one that stands
select distinct on (shipment_id) shipment_id, to_eta_at from tracking_analytics.eta_changes order by shipment_id, changed_at desc;
select shipment_id, pod_eta_at from tracking_parts.known_shipments
where shipment_id in (select shipment_id from tracking_analytics.eta_changes);

-- check: the last change of a fee or a last free day leads to what stands
select distinct on (container_id, change, subject) container_id, change, subject, to_value
from tracking_analytics.changes
where change in ('fee', 'last free day')
order by container_id, change, subject, learned_at desc;
select change.container_id, change.change, change.subject,
  coalesce(fee.amount || ' ' || fee.currency_code, day.local_date::text)
from (
    select distinct container_id, change, subject from tracking_analytics.changes
    where change in ('fee', 'last free day')
) as change
left join tracking_parts.known_fees as fee
    on change.change = 'fee'
    and fee.container_id = change.container_id and fee.type = change.subject
left join tracking_parts.known_import_deadlines as day
    on change.change = 'last free day'
    and day.container_id = change.container_id
    and day.kind = coalesce('pickup_lfd_' || nullif(change.subject, 'service'), 'pickup_lfd');

-- check: with nobody waiting the estimate is the median that somebody waited
select terminal_id, week_on, n, estimated_median_hours from tracking_analytics.port_waits
where stage = '2 berth to discharge' and n > 0 and terminal_id is not null
    and n = (
        select count(*) from tracking_analytics.journey as milestone
        where milestone.pod_terminal_id = terminal_id
            and date_trunc('week', milestone.pod_berthed_at at time zone milestone.pod_zone)
                = week_on
    );
select pod_terminal_id, date_trunc('week', pod_berthed_at at time zone pod_zone)::date, count(*),
  round(extract(epoch from percentile_cont(0.5) within group (
      order by pod_discharged_at - pod_berthed_at
  )) / 3600, 1)
from tracking_analytics.journey
where pod_terminal_id is not null and pod_zone is not null and pod_berthed_at is not null
group by 1, 2
having bool_and(coalesce(pod_discharged_at >= pod_berthed_at, false));

-- check: waits of all modes are the waits at the port, week by week
select pod_terminal_id, port_locode, stage, week_on, n, median_hours, still_waiting, longest_waiting_hours,
  estimated_median_hours, estimated_p90_hours, not_measured, zone_unknown
from tracking_analytics.waits
where mode = 'all' and period = 'week' and stage <> '6 discharge to out';
select terminal_id, port_locode, stage, week_on, n, median_hours, still_waiting, longest_waiting_hours,
  estimated_median_hours, estimated_p90_hours, not_measured, zone_unknown
from tracking_analytics.port_waits;

-- check: the wait from discharge to out is the dwell, by mode
-- A rounded median of hours can be a hundredth of a day off.
select wait.pod_terminal_id, wait.port_locode, wait.mode, wait.week_on, wait.n,
  round((figure.finished_hours[1] / 24)::numeric, 2), abs(wait.median_hours - figure.finished_hours[1]) <= 0.051
from tracking_analytics.waits as wait
inner join tracking_parts.wait_figures as figure
  on figure.terminal_id = wait.pod_terminal_id and (figure.mode, figure.period, figure.stage, figure.week_on)
    = (wait.mode, wait.period, wait.stage, wait.week_on)
where wait.mode <> 'all' and wait.stage = '6 discharge to out' and wait.n > 0;
select terminal_id, port_locode, mode, discharge_week_on, n, median_days, true
from tracking_analytics.terminal_dwell
where n > 0 and terminal_id is not null and discharge_week_on is not null;

-- check: weeks of waits have every stage of a container, once for its mode and once for all
select stage, sum(n)::bigint, sum(still_waiting)::bigint from tracking_analytics.waits
where period = 'week' group by 1;
select stage, 2 * count(*) filter (where state = 'over'), 2 * count(*) filter (where state = 'waiting')
from tracking_analytics.port_stages group by 1;

-- check: arrivals of the next 30 days are those of the calendar, by day, port and line
select arrival_on, port_of_discharge_locode, shipping_line_scac, count(*), coalesce(sum(teu), 0)
from tracking_analytics.arrivals
where state = 'expected' and days_until < 30 or state = 'eta_passed' and not is_tracking_stopped
group by 1, 2, 3;
select arrival_on, port_of_discharge_locode, shipping_line_scac, containers, teu
from tracking_analytics.arrivals_calendar where arrival_on is not null;

-- check: a container has not arrived, or is among the milestones of those that have
select container_id from tracking_analytics.arrivals where state <> 'left_behind'
union all select container_id from tracking_parts.journey_facts where has_vessel_arrived
union all select container_id from tracking_parts.journey_facts where tracking_stopped_reason = 'booking_cancelled' and not has_vessel_arrived;
select container_id from tracking_analytics.container_milestones;

-- check: open hold intervals are the holds that stand
select container_id, hold_key, hold_name, status from tracking_analytics.hold_durations where is_open;
select container_id, hold_key, name, status from tracking_parts.known_holds;

-- check: open fee intervals are the fees that are listed
select container_id, fee_key, fee_type, amount, currency_code from tracking_analytics.fee_history where is_open;
select container_id, fee_key, type, amount, currency_code from tracking_parts.known_fees;

-- check: the current status is that of the container
select container_id, status from tracking_analytics.status_durations where is_current;
select container_id, current_status from tracking_parts.known_containers;

-- check: hours in all statuses add up to the time we watched
-- Each status is rounded to a hundredth of an hour: their sum may be half of that off for each.
select status.container_id, abs(sum(status.hours) - watched.hours) <= 0.005 * count(*)
from tracking_analytics.status_durations as status
cross join lateral (
  select extract(epoch from tracking_analytics.as_of() - min(version.valid_from)) / 3600 as hours
  from tracking.container_history as version
  where version.container_id = status.container_id
) as watched
group by status.container_id, watched.hours;
select container_id, true from tracking_parts.known_containers;

-- check: hours of the statuses of the timeline add up to those of the status
-- Each row is rounded to a hundredth of an hour.
select said.container_id, said.status, abs(said.hours - status.hours) <= 0.005 * (said.n + 1)
from (
  select container_id, to_value as status, sum(hours) as hours, count(*) as n
  from tracking_analytics.timeline where topic = 'status' group by 1, 2
) as said
left join tracking_analytics.status_durations as status
  on status.container_id = said.container_id and status.status is not distinct from said.status;
select container_id, status, true from tracking_analytics.status_durations;

-- check: hours of holds and fees of the timeline are those of their intervals
select container_id, topic, subject, learned_at, hours from tracking_analytics.timeline
where topic in ('hold', 'fee') and to_value is not null;
select container_id, 'hold', hold_name, placed_at, hours from tracking_analytics.hold_durations
union all select container_id, 'fee', fee_type, seen_at,
    round((extract(epoch from coalesce(gone_at, tracking_analytics.as_of()) - seen_at) / 3600)::numeric, 2)
  from tracking_analytics.fee_history;

-- check: corrections of the timeline are the corrections of the dates
-- of now
-- The week has few, and only at its end.
select container_id, subject, kind, learned_at, from_value, to_value, source from tracking_analytics.timeline
where topic = 'correction';
select container_id, milestone, 'milestone ' || kind, learned_at,
  to_char(from_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
  to_char(to_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), source
from tracking_analytics.date_corrections;

-- check: evidence of holds and fees is their intervals
select container_id, kind, seen_at, gone_at, is_open from tracking_analytics.evidence where kind in ('hold', 'fee');
select container_id, 'hold', placed_at, cleared_at, is_open from tracking_analytics.hold_durations
union all select container_id, 'fee', seen_at, gone_at, is_open from tracking_analytics.fee_history;

-- check: the timeline has each transport event that happened once
select container_id, subject, count(*) from tracking_analytics.timeline where kind = 'transport event' group by 1, 2;
select container_id, event, count(*) from tracking_parts.known_transport_events
where not is_estimated and container_id in (select container_id from tracking_parts.known_containers) group by 1, 2;

-- check: transit times count the arrivals that have both ends
select shipping_line_scac, sum(n)::bigint from tracking_analytics.transit_times
where cut = 'lane and line' and period = 'month' group by 1 having sum(n) > 0;
select shipping_line_scac, count(transit_days) from tracking_parts.shipment_arrivals group by 1 having count(transit_days) > 0;

-- check: each cut of the transit times has every arrival
select cut, period, sum(n + not_measured)::bigint from tracking_analytics.transit_times group by 1, 2;
select cut, period, count(*)
from tracking_parts.shipment_arrivals
cross join (values ('lane'), ('lane and line'), ('lane and vessel')) as cuts (cut)
cross join (values ('month'), ('last 90 days')) as periods (period)
where period = 'month'
    or pod_ata_at between tracking_analytics.as_of() - interval '2160 hours'
        and tracking_analytics.as_of()
group by 1, 2;

-- check: each cut of the ETA accuracy has the same samples
select period, horizon, sum(n), sum(shipments) from tracking_analytics.eta_accuracy
where cut = 'line' group by 1, 2;
select distinct period, horizon, sum(n), sum(shipments) from tracking_analytics.eta_accuracy
where cut <> 'line' group by cut, period, horizon;

-- check: reliability by lane and by quarter count the same arrivals
select shipping_line_scac, sum(n)::bigint, sum(on_time)::bigint from tracking_analytics.schedule_reliability
where shipping_line_scac is not null and arrival_month_on is not null group by 1 having sum(n) > 0;
select shipping_line_scac, sum(reliability_n)::bigint, round(sum(on_time_share * reliability_n))::bigint
from tracking_analytics.carrier_scorecards where shipping_line_scac is not null group by 1 having sum(reliability_n) > 0;

-- check: carriers by line and quarter are the scorecards
select shipping_line_scac, period, arrivals, on_time_n, on_time_share, transit_n, median_transit_days,
  rollover_n, rollover_free_share, lag_n, lag_median_hours, containers, completeness_n, milestone_completeness
from tracking_analytics.carriers
where cut = 'line' and period <> 'last 90 days' and shipping_line_scac is not null and arrivals > 0;
select shipping_line_scac, to_char(arrival_quarter_on, 'YYYY-"Q"Q'), arrivals, reliability_n, on_time_share,
  transit_n, median_transit_days, rollover_n, rollover_free_share, lag_n, lag_median_hours, containers,
  completeness_n, milestone_completeness
from tracking_analytics.carrier_scorecards where shipping_line_scac is not null;

-- check: carriers by lane have the transit times of the last 90 days
select cut, port_of_lading_locode, port_of_discharge_locode, shipping_line_scac, transit_n, median_transit_days
from tracking_analytics.carriers
where cut in ('lane', 'lane and line') and period = 'last 90 days' and arrivals > 0;
select cut, port_of_lading_locode, port_of_discharge_locode, shipping_line_scac, n, median_days
from tracking_analytics.transit_times where cut in ('lane', 'lane and line') and period = 'last 90 days';

-- check: carriers by lane and line and quarter count the transit times of its months
select port_of_lading_locode, port_of_discharge_locode, shipping_line_scac, period, transit_n
from tracking_analytics.carriers
where cut = 'lane and line' and period <> 'last 90 days' and arrivals > 0;
select port_of_lading_locode, port_of_discharge_locode, shipping_line_scac,
  to_char(arrival_month_on, 'YYYY-"Q"Q'), sum(n)::bigint
from tracking_analytics.transit_times
where cut = 'lane and line' and period = 'month' and arrival_month_on is not null group by 1, 2, 3, 4;

-- check: each cut of carriers has every arrival and every promise
select cut, period, sum(arrivals)::bigint, sum(containers)::bigint, sum(lag_n)::bigint, sum(eta_2_days_n)::bigint,
  sum(eta_7_days_n)::bigint, sum(eta_14_days_n)::bigint
from tracking_analytics.carriers group by 1, 2;
select cut, period, count(*) filter (where is_of_arrival), coalesce(sum(containers), 0)::bigint,
  coalesce(sum(cardinality(lag_hours)), 0)::bigint, count(eta_2_days_is_kept), count(eta_7_days_is_kept),
  count(eta_14_days_is_kept)
from tracking_analytics.shipment_outcomes
cross join (values ('all'), ('line'), ('lane'), ('lane and line'), ('vessel')) as cuts (cut) group by 1, 2;

-- check: promises that count are those of the outcomes
-- in every run
select horizon_days, count(outcome), count(*) filter (where outcome = 'kept'), max(error_hours)
from (values (2), (7), (14)) as horizon (horizon_days)
left join (
  select horizon_days, outcome, error_hours from tracking_analytics.eta_promises
  where is_counted and due_quarter_on is not null
) as promise using (horizon_days) group by 1;
select horizon_days, count(is_kept), count(*) filter (where is_kept), max(error_hours)
from (values (2), (7), (14)) as horizon (horizon_days)
left join tracking_analytics.shipment_outcomes on period <> 'last 90 days'
cross join lateral (
  select case horizon_days when 2 then eta_2_days_is_kept when 7 then eta_7_days_is_kept else eta_14_days_is_kept end as is_kept,
    case horizon_days when 2 then eta_2_days_error_hours when 7 then eta_7_days_error_hours else eta_14_days_error_hours end as error_hours
) as promise
group by 1;

-- check: the detention clock runs for containers that are out
select container_id, full_out_at, empty_terminated_at from tracking_analytics.empty_return_times;
select container_id, coalesce(final_destination_full_out_at, pod_full_out_at), empty_terminated_at
from tracking_analytics.journey
where coalesce(final_destination_full_out_at, pod_full_out_at) is not null;

-- check: what was known at an instant are the versions that stood then
-- in every run
select 'hold' as kind, container_id, hold_key as key, status as value from tracking_parts.known_holds
union all select 'fee', container_id, fee_key, amount::text from tracking_parts.known_fees
union all select 'day', container_id, kind, local_date::text from tracking_parts.known_import_deadlines
union all select 'status', container_id, null, current_status from tracking_parts.known_containers
union all select 'eta', shipment_id, null, pod_eta_at::text from tracking_parts.known_shipments;
select version.kind, version.id, version.key, version.value
from (
  select 'hold' as kind, container_id as id, hold_key as key, status as value, valid_from, valid_to from tracking.container_hold_history
  union all select 'fee', container_id, fee_key, amount::text, valid_from, valid_to from tracking.container_fee_history
  union all select 'day', container_id, kind, local_date::text, valid_from, valid_to from tracking.container_import_deadline_history
  union all select 'status', container_id, null, current_status, valid_from, valid_to from tracking.container_history
  union all select 'eta', shipment_id, null, pod_eta_at::text, valid_from, valid_to from tracking.shipment_history
) as version
where valid_from <= tracking_analytics.as_of() and (valid_to is null or valid_to > tracking_analytics.as_of());

-- check: costs have one row for each charge and currency
select container_id, place, charge, currency_code from tracking_analytics.costs;
select distinct container_id, place, charge, currency_code from tracking_analytics.costs;

-- check: costs are those of the exceptions
-- Exceptions leave out a charge that rules alone name, and a merged clock while the container is on its
-- way from the port to the ramp's gate: it is neither at the port nor picked up.
select container_id, cost_currency_code, sum(cost_amount) from tracking_analytics.attention
where exception in ('overdue', 'empty_not_returned') and cost_amount is not null
group by 1, 2;
select clock.container_id, clock.currency_code, sum(clock.cost_amount)
from tracking_analytics.costs as clock
inner join tracking_analytics.container_stays as stay
  on stay.container_id = clock.container_id
  and stay.place = case clock.place when 'ramp' then 'ramp' else 'port' end
where clock.state = 'overdue' and clock.charge <> 'plug_in' and clock.cost_amount is not null
  and not (clock.place = 'port' and stay.has_ended and not stay.is_out)
group by 1, 2;

-- check: empties have every container that was picked up or returned, once
select container_id from tracking_analytics.empties;
select container_id from tracking_analytics.empty_return_times
where container_id not in (select container_id from tracking_parts.tracked_twice where is_counted_elsewhere);

-- check: last free days are those of the stays
-- in every run
select container_id, shipment_id, pod_terminal_id, container_number, bill_of_lading_number, shipping_line_scac,
  pod_terminal, place, place_locode, equipment_type, equipment_length, current_status, state, binding_source,
  time_zone, tracking_stopped_reason, days_left, days_over, is_zone_known, has_ended, binding_on, line_on,
  terminal_on, rail_on, service_on, rule_on, today_on, out_on, start_at, end_at, pod_discharged_at
from tracking_analytics.last_free_days;
select container_id, shipment_id, pod_terminal_id, container_number, bill_of_lading_number, shipping_line_scac,
  pod_terminal, place, place_locode, equipment_type, equipment_length, current_status, state, binding_source,
  time_zone, tracking_stopped_reason, days_left, days_over, is_zone_known, has_ended, binding_on, line_on,
  terminal_on, rail_on, service_on, rule_on, today_on, out_on, start_at, end_at, pod_discharged_at
from tracking_analytics.container_stays;

-- check: forecasts are those of the clocks
-- in every run
select container_id, place, charge, state, rule_name, last_free_source, currency_code, days_left, amount,
  seven_days_amount, fourteen_days_amount, last_free_on
from tracking_analytics.exposure_forecast;
select container_id, place, charge, state, rule_name, last_free_source, currency_code, days_left, amount,
  seven_days_amount, fourteen_days_amount, last_free_on
from tracking_analytics.charge_clocks
where rule_name is not null and state in ('upcoming', 'due_today', 'overdue');

-- check: streams of the data quality are those of the freshness
-- of now
-- in every run
select subject_id, last_outcome, age_hours, rows from tracking_analytics.data_quality where subject_type = 'stream';
select stream, last_outcome, age_hours, rows from tracking_analytics.freshness;
