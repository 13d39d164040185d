-- A warehouse of :containers containers, shaped like the simulator's, for bench/analytics.js. The same rows each time.
-- Two containers a shipment, twelve transport events a container, arrivals spread over two years up to now.
-- {{n}} is the number of containers.

insert into {{data}}.ports (port_id, name, code, city, country_code, time_zone, _observed_at, _first_seen_at, _changed_at)
select
    'port-' || n,
    'Port ' || n,
    case when n < 30 then 'CN' else 'US' end || lpad(n::text, 3, 'A'),
    'City ' || n,
    case when n < 30 then 'CN' else 'US' end,
    case
        when n < 30 then 'Asia/Shanghai'
        else (array['America/Los_Angeles', 'America/New_York', 'America/Chicago'])[1 + n % 3]
    end,
    now(), now(), now()
from generate_series(0, 49) as n;

insert into {{data}}.terminals (terminal_id, name, nickname, firms_code, port_id, _observed_at, _first_seen_at, _changed_at)
select
    'terminal-' || n,
    'Terminal ' || n,
    'T' || n,
    'F' || lpad(n::text, 3, '0'),
    'port-' || (30 + n % 20),
    now(), now(), now()
from generate_series(0, 59) as n;

insert into {{data}}.vessels (vessel_id, name, imo, mmsi, _observed_at, _first_seen_at, _changed_at)
select 'vessel-' || n, 'Vessel ' || n, (9000000 + n)::text, (200000000 + n)::text, now(), now(), now()
from generate_series(0, 399) as n;

create temporary table plan as
select
    n,
    'shipment-' || lpad((n / 2)::text, 8, '0') as shipment_id,
    'container-' || lpad(n::text, 8, '0') as container_id,
    (n / 2) % 30 as pol,
    30 + (n / 2) % 20 as pod,
    -- A terminal of the port of discharge.
    (n / 2) % 20 + 20 * ((n / 7) % 3) as terminal,
    (n / 2) % 24 as line,
    (n / 2) % 400 as vessel,
    (array['America/Los_Angeles', 'America/New_York', 'America/Chicago'])[1 + (30 + (n / 2) % 20) % 3] as zone,
    n % 5 = 0 as is_rail,
    date_trunc('hour', now()) + interval '20 days' - ((n / 2)::float8 * 2 / {{n}}) * interval '750 days' as arrived_at,
    ((n * 7919::bigint) % 97)::float8 / 97 as chance
from generate_series(0, {{n}} - 1) as n;

analyze plan;

insert into {{data}}.shipments (
    shipment_id, bill_of_lading_number, normalized_number, ref_numbers, created_at, tags,
    port_of_lading_locode, port_of_lading_name, port_of_discharge_locode, port_of_discharge_name,
    shipping_line_scac, shipping_line_name, shipping_line_short_name, customer_name,
    pod_vessel_name, pod_vessel_imo, pod_voyage_number,
    pol_etd_at, pol_atd_at, pod_eta_at, pod_original_eta_at, pod_ata_at, pol_timezone, pod_timezone,
    port_of_lading_id, port_of_discharge_id, pod_terminal_id, container_ids,
    _observed_at, _first_seen_at, _changed_at, _fingerprint
)
select
    shipment_id,
    'BOL' || lpad((n / 2)::text, 9, '0'),
    'BOL' || lpad((n / 2)::text, 9, '0'),
    array['REF-' || n / 2],
    arrived_at - interval '35 days',
    '{}',
    'CN' || lpad(pol::text, 3, 'A'), 'Port ' || pol, 'US' || lpad(pod::text, 3, 'A'), 'Port ' || pod,
    'L' || lpad(line::text, 3, '0'), 'Shipping Line ' || line, 'Line ' || line, 'Customer ' || n % 200,
    'Vessel ' || vessel, (9000000 + vessel)::text, 'V' || (n / 2) % 50,
    arrived_at - interval '22 days',
    arrived_at - interval '21 days' - chance * interval '2 days',
    arrived_at,
    arrived_at - (chance - 0.3) * interval '6 days',
    case when arrived_at < now() then arrived_at end,
    'Asia/Shanghai',
    zone,
    'port-' || pol, 'port-' || pod, 'terminal-' || terminal, array[container_id, 'container-' || lpad((n + 1)::text, 8, '0')],
    now(), arrived_at - interval '34 days', arrived_at, 'f' || n
from plan
where n % 2 = 0;

insert into {{data}}.containers (
    container_id, number, ref_numbers, equipment_type, equipment_length, equipment_height, weight_in_lbs, created_at, seal_number,
    pickup_lfd, pickup_lfd_terminal, pickup_lfd_line, availability_known, available_for_pickup,
    pod_arrived_at, pod_discharged_at, pod_full_out_at, pod_rail_loaded_at, pod_rail_departed_at, ind_ata_at, ind_rail_unloaded_at,
    final_destination_full_out_at, empty_terminated_at, holds_at_pod_terminal, fees_at_pod_terminal,
    pod_timezone, final_destination_timezone, empty_terminated_timezone, current_status,
    shipment_id, pod_terminal_id, pickup_facility_id,
    _observed_at, _first_seen_at, _changed_at, _fingerprint
)
select
    container_id,
    'ABCU' || lpad((n % 10000000)::text, 7, '0'),
    '{}',
    case when n % 12 = 0 then 'reefer' else 'dry' end,
    (array[20, 40, 40, 40, 45])[1 + n % 5],
    'standard',
    20000 + n % 20000,
    arrived_at - interval '35 days',
    'S' || n,
    arrived_at + interval '5 days', arrived_at + interval '5 days', null,
    true,
    arrived_at + interval '2 days' < now() and n % 9 != 0,
    case when arrived_at < now() then arrived_at end,
    case when arrived_at + interval '1 day' < now() then arrived_at + interval '1 day' end,
    case when not is_rail and arrived_at + interval '1 day' + chance * interval '9 days' < now() then arrived_at + interval '1 day' + chance * interval '9 days' end,
    case when is_rail and arrived_at + interval '3 days' < now() then arrived_at + interval '3 days' end,
    case when is_rail and arrived_at + interval '3 days' + chance * interval '3 days' < now() then arrived_at + interval '3 days' + chance * interval '3 days' end,
    case when is_rail and arrived_at + interval '9 days' < now() then arrived_at + interval '9 days' end,
    case when is_rail and arrived_at + interval '10 days' < now() then arrived_at + interval '10 days' end,
    case when is_rail and arrived_at + interval '12 days' < now() then arrived_at + interval '12 days' end,
    case when arrived_at + interval '15 days' < now() and n % 50 != 0 then arrived_at + interval '15 days' + chance * interval '5 days' end,
    '[]', '[]',
    zone, 'America/Chicago', 'America/Chicago',
    case when arrived_at > now() then 'on_ship' when arrived_at + interval '15 days' < now() then 'empty_returned' else 'available' end,
    shipment_id, 'terminal-' || terminal, 'terminal-' || terminal,
    now(), arrived_at - interval '34 days', arrived_at, 'f' || n
from plan;

insert into {{data}}.transport_events (
    container_id, transport_event_id, event, voyage_number, timestamp, timezone, location_locode, created_at, data_source,
    shipment_id, location_id, location_type, vessel_id, terminal_id, terminal_type, is_estimated,
    _observed_at, _first_seen_at, _changed_at, _fingerprint
)
select
    container_id,
    'event-' || lpad(n::text, 8, '0') || '-' || kind.position,
    kind.event,
    'V' || (n / 2) % 50,
    arrived_at + kind.offset_days * interval '1 day',
    case when kind.position % 11 = 0 then null when kind.offset_days < -10 then 'Asia/Shanghai' else zone end,
    case when kind.offset_days < -10 then 'CN' || lpad(pol::text, 3, 'A') else 'US' || lpad(pod::text, 3, 'A') end,
    arrived_at + kind.offset_days * interval '1 day' + interval '3 hours' + chance * interval '20 hours',
    'shipping_line',
    shipment_id,
    case when kind.offset_days < -10 then 'port-' || pol else 'port-' || pod end,
    'port',
    case when kind.event like '%vessel%' then 'vessel-' || vessel end,
    case when kind.offset_days >= 0 then 'terminal-' || terminal end,
    case when kind.offset_days >= 0 then 'terminal' end,
    false,
    now(), now(), now(), 'f'
from plan
cross join (
    values
        (1, 'container.transport.empty_out', -30), (2, 'container.transport.full_in', -25), (3, 'container.transport.vessel_loaded', -22),
        (4, 'container.transport.vessel_departed', -21), (5, 'container.transport.transshipment_arrived', -12),
        (6, 'container.transport.transshipment_discharged', -11), (7, 'container.transport.transshipment_loaded', -9),
        (8, 'container.transport.transshipment_departed', -8), (9, 'container.transport.vessel_arrived', 0),
        (10, 'container.transport.vessel_berthed', 0), (11, 'container.transport.vessel_discharged', 1), (12, 'container.transport.full_out', 6)
) as kind (position, event, offset_days);

-- Four versions of each shipment: its ETA slips.
insert into {{data}}.shipment_history (
    shipment_id, valid_from, valid_to, pod_eta_at, pod_original_eta_at, pod_ata_at, shipping_line_scac, shipping_line_name,
    port_of_lading_id, port_of_discharge_id, port_of_lading_locode, port_of_discharge_locode, pod_timezone, pol_timezone,
    pod_vessel_name, pod_vessel_imo, pod_voyage_number, pol_atd_at, created_at, source
)
select
    shipment_id,
    arrived_at + version.from_day * interval '1 day',
    arrived_at + version.to_day * interval '1 day',
    arrived_at - (chance - 0.3) * interval '6 days' * version.error,
    arrived_at - (chance - 0.3) * interval '6 days',
    case when version.to_day is null and arrived_at < now() then arrived_at end,
    'L' || lpad(line::text, 3, '0'), 'Shipping Line ' || line,
    'port-' || pol, 'port-' || pod, 'CN' || lpad(pol::text, 3, 'A'), 'US' || lpad(pod::text, 3, 'A'), zone, 'Asia/Shanghai',
    'Vessel ' || vessel, (9000000 + vessel)::text, 'V' || (n / 2) % 50,
    case when version.from_day > -21 then arrived_at - interval '21 days' end,
    arrived_at - interval '35 days',
    'sync'
from plan
cross join (values (-34, -20, 1.0), (-20, -10, 0.7), (-10, -2, 0.3), (-2, null, 0.0)) as version (from_day, to_day, error)
where n % 2 = 0;

-- Four versions of each container: its status moves on.
insert into {{data}}.container_history (
    container_id, valid_from, valid_to, number, current_status, available_for_pickup, availability_known, pickup_lfd, pickup_lfd_terminal,
    pod_arrived_at, pod_discharged_at, pod_full_out_at, pod_timezone, shipment_id, pod_terminal_id, source
)
select
    container_id,
    arrived_at + version.from_day * interval '1 day',
    arrived_at + version.to_day * interval '1 day',
    'ABCU' || lpad((n % 10000000)::text, 7, '0'),
    version.status,
    version.status = 'available',
    true,
    arrived_at + interval '5 days', arrived_at + interval '5 days',
    case when version.from_day >= 0 then arrived_at end,
    case when version.from_day >= 1 then arrived_at + interval '1 day' end,
    case when version.from_day >= 6 and not is_rail then arrived_at + interval '6 days' end,
    zone, shipment_id, 'terminal-' || terminal, 'sync'
from plan
cross join (
    values (-34, 0, 'on_ship'), (0, 1, 'not_available'), (1, 6, 'available'), (6, null, 'picked_up')
) as version (from_day, to_day, status);

insert into {{data}}.container_import_deadlines (
    container_id, kind, deadline_at, time_zone, local_date, is_zone_known, _observed_at, _first_seen_at
)
select container_id, kind, arrived_at + interval '5 days', zone, ((arrived_at + interval '5 days') at time zone zone)::date, true, now(), now()
from plan
cross join (values ('pickup_lfd'), ('pickup_lfd_terminal')) as deadline (kind);

insert into {{data}}.container_import_deadline_history (
    container_id, kind, valid_from, valid_to, deadline_at, time_zone, local_date, source
)
select
    container_id, kind, arrived_at + version.from_day * interval '1 day', arrived_at + version.to_day * interval '1 day',
    arrived_at + version.lfd * interval '1 day', zone, ((arrived_at + version.lfd * interval '1 day') at time zone zone)::date, 'sync'
from plan
cross join (values ('pickup_lfd'), ('pickup_lfd_terminal')) as deadline (kind)
cross join (values (-2, 1, 4), (1, null, 5)) as version (from_day, to_day, lfd);

insert into {{data}}.container_hold_history (container_id, hold_key, valid_from, valid_to, name, status, description, source)
select container_id, hold, arrived_at, arrived_at + interval '2 days' + chance * interval '3 days', hold, 'hold', null, 'sync'
from plan
cross join (values ('customs'), ('freight')) as holds (hold)
where n % 3 = 0;

insert into {{data}}.container_holds (container_id, hold_key, name, status, position, _observed_at, _first_seen_at)
select container_id, 'customs', 'customs', 'hold', 0, now(), now()
from plan
where n % 40 = 0 and arrived_at between now() - interval '12 days' and now();

insert into {{data}}.container_fee_history (container_id, fee_key, valid_from, valid_to, type, amount, currency_code, source)
select
    container_id, kind, arrived_at + (5 + day) * interval '1 day', case when day < 3 then arrived_at + (6 + day) * interval '1 day' end,
    kind, 150 * (day + 1), 'USD', 'sync'
from plan
cross join (values ('demurrage'), ('total')) as fee (kind)
cross join generate_series(0, 3) as day
where n % 4 = 0;

insert into {{data}}.container_fees (container_id, fee_key, type, amount, currency_code, is_total, position, _observed_at, _first_seen_at)
select container_id, kind, kind, 600, 'USD', kind = 'total', 0, now(), now()
from plan
cross join (values ('demurrage'), ('total')) as fee (kind)
where n % 4 = 0 and arrived_at between now() - interval '30 days' and now() - interval '6 days';

insert into {{data}}.tracking_requests (
    tracking_request_id, request_number, request_type, scac, ref_numbers, created_at, updated_at, status, tracked_object_id, tracked_object_type,
    _observed_at, _first_seen_at, _changed_at
)
select
    'request-' || n, 'BOL' || n / 2, 'bill_of_lading', 'L' || lpad(line::text, 3, '0'), '{}', arrived_at - interval '35 days', arrived_at - interval '35 days',
    'created', shipment_id, 'shipment', now(), now(), now()
from plan
where n % 2 = 0;

-- Eighty-five rules: storage of each terminal, demurrage of each line, detention of all.
insert into {{analytics}}.free_time_rules (rule_name, charge, shipping_line_scac, terminal, starts_with, currency_code, free_days)
select 'storage ' || terminal, 'storage', null, 'terminal-' || terminal, 'discharge', 'USD', null::integer
from generate_series(0, 59) as terminal
union all
select 'demurrage ' || line, 'demurrage', 'L' || lpad(line::text, 3, '0'), null, 'discharge', 'USD', 4
from generate_series(0, 23) as line
union all
select 'detention', 'detention', null, null, 'gate_out', 'USD', 5;

insert into {{analytics}}.free_time_tiers (rule_name, from_day, daily_rate)
select rule.rule_name, tier.from_day, tier.daily_rate
from {{analytics}}.free_time_rules as rule
cross join (values (1, 150), (5, 250), (10, 400)) as tier (from_day, daily_rate);
