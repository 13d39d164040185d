-- Arrivals to come, and the free time after them
--
-- One row per container that has not arrived at its port of discharge, as known at as_of(), however
-- far its ETA. See expected_arrivals for its state and the day of its ETA. Cancelled bookings are
-- left out.
--
-- first_eta_at: the first ETA that the line reported, else the first one that we saw, as in
-- shipment_arrivals. slip_hours: the ETA now minus that one; late is positive.
-- moved_7_days_hours: the ETA now minus the ETA of 7 times 24 hours before as_of(); null if we knew
-- none then.
--
-- Whether free time will do is said of containers that are expected:
-- usual_dwell_days: the median of the dwell, discharge to out, of the containers that were
-- discharged in the 90 times 24 hours before as_of() and have left (stage 6 of port_stages): of the
-- same terminal and mode, else of the same port and mode; null below five of them. It is too low
-- while many still wait: see waits.
-- by_rule_on: the last free day by the user's own free_time_rules if the container is discharged on
-- arrival_on, the day on which its vessel arrives: the earlier one of storage and demurrage at the
-- port; of equal days that of storage is named (charge, rule_name). See charge_clocks for how a
-- rule is chosen. Null where the rule starts with a day that nobody knows yet, as berth or
-- available. Days that somebody reports already are in last_free_days.
-- expected_out_on: arrival_on and the usual dwell, whole days rounded up.
-- days_short: days from by_rule_on to it, which will probably be missing; 0 where free time will
-- do, null where nobody knows. A merged clock runs on after that day, until the empty is back.
-- expected_amount: the cost of these days by that rule alone; null without a rate.

create view {{analytics}}.arrivals as
with

dwells as (

    select
        journey.pod_terminal_id as terminal_id,
        journey.port_of_discharge_locode as locode,
        found.mode,
        round(
            (percentile_cont(0.5) within group (order by found.waited_hours) / 24)::numeric, 2
        ) as usual_days
    from {{parts}}.journey_facts as journey
    cross join lateral (

        select
            journey.discharged_at as start_at,
            journey.left_port_at as end_at,
            journey.has_left_port as is_passed

    ) as stage
    left join lateral (

        {{fragment stage_length}}

    ) as found
        on true
    where found.state = 'over'
        and journey.discharged_at >= {{analytics}}.as_of() - interval '2160 hours'
    group by
        found.mode,
        grouping sets ((journey.pod_terminal_id), (journey.port_of_discharge_locode))
    having count(*) >= 5

)

select
    arrival.container_id,
    arrival.shipment_id,
    arrival.pod_terminal_id,
    arrival.container_number,
    arrival.bill_of_lading_number,
    arrival.shipping_line_scac,
    coalesce(terminal.nickname, terminal.name) as pod_terminal,
    arrival.port_of_discharge_locode,
    arrival.port_of_discharge_name,
    arrival.destination_locode,
    arrival.pod_vessel_name,
    arrival.pod_vessel_imo,
    arrival.pod_voyage_number,
    arrival.equipment_type,
    customer.customer_name,
    customer.ref_numbers_text,
    customer.tags_text,
    customer.custom_fields,
    arrival.state,
    arrival.mode,
    arrival.tracking_stopped_reason,
    rule.charge,
    rule.rule_name,
    rule.currency_code,
    arrival.equipment_length,
    arrival.teu,
    arrival.days_until,
    round(extract(epoch from arrival.eta_at - first.eta_at) / 3600, 2) as slip_hours,
    round(extract(epoch from arrival.eta_at - before.eta_at) / 3600, 2) as moved_7_days_hours,
    usual.days as usual_dwell_days,
    short.days as days_short,
    cost.amount as expected_amount,
    arrival.is_tracking_stopped,
    arrival.is_zone_known,
    arrival.arrival_on,
    rule.by_rule_on,
    usual.out_on as expected_out_on,
    arrival.eta_at,
    arrival.eta_local,
    first.eta_at as first_eta_at
from {{parts}}.expected_arrivals as arrival
left join {{data}}.terminals as terminal
    on terminal.terminal_id = arrival.pod_terminal_id
left join {{analytics}}.container_customers as customer
    on customer.container_id = arrival.container_id
left join lateral (

    select (array_agg(version.pod_eta_at order by version.valid_from))[1] as eta_at
    from {{data}}.shipment_history as version
    where version.shipment_id = arrival.shipment_id
        and arrival.original_eta_at is null
        and version.pod_eta_at is not null
        and version.valid_from <= {{analytics}}.as_of()
        and version.valid_from < coalesce(arrival.shipment_arrived_at, 'infinity')

) as seen
    on true
left join lateral (

    select coalesce(arrival.original_eta_at, seen.eta_at) as eta_at

) as first
    on true
left join lateral (

    select max(version.pod_eta_at) as eta_at
    from {{data}}.shipment_history as version
    where version.shipment_id = arrival.shipment_id
        and version.valid_from <= {{analytics}}.as_of() - interval '168 hours'
        and (
            version.valid_to is null
            or version.valid_to > {{analytics}}.as_of() - interval '168 hours'
        )

) as before
    on true
left join dwells as of_terminal
    on of_terminal.terminal_id = arrival.pod_terminal_id
    and of_terminal.mode = arrival.mode
left join dwells as of_port
    on of_port.locode = arrival.port_of_discharge_locode
    and of_port.mode = arrival.mode
left join lateral (

    select
        likely.days,
        arrival.arrival_on + ceil(likely.days)::integer as out_on
    from (select coalesce(of_terminal.usual_days, of_port.usual_days) as days) as likely
    where arrival.state = 'expected'

) as usual
    on true
left join lateral (

    select
        charge.charge,
        each.rule_name,
        each.currency_code,
        each.off_days,
        each.weekend,
        each.clock_on,
        each.by_rule_on
    from (values ('storage'), ('demurrage')) as charge (charge)
    cross join lateral (

        select
            charge.charge as of_charge,
            null::date as reported_on,
            'port' as place,
            array_remove(
                array[
                    arrival.pod_terminal_id,
                    terminal.firms_code,
                    terminal.nickname,
                    terminal.name
                ],
                null
            ) as terminal_names,
            arrival.shipping_line_scac,
            arrival.port_of_discharge_locode as place_locode,
            arrival.equipment_type,
            arrival.equipment_length,
            arrival.equipment_height,
            customer.customer_name,
            customer.container_ref_numbers || customer.shipment_ref_numbers as ref_numbers,
            customer.tags,
            arrival.departed_on,
            arrival.arrival_on as started_on,
            arrival.arrival_on as arrived_on,
            null::date as berthed_on,
            null::date as available_on
        where arrival.state = 'expected'
        offset 0

    ) as asked
    cross join lateral (

        {{fragment rule_of}}

    ) as each
    where each.by_rule_on is not null
    order by each.by_rule_on, charge.charge = 'demurrage'
    limit 1

) as rule
    on true
left join lateral (

    select greatest(usual.out_on - rule.by_rule_on, 0) as days
    where usual.out_on is not null
        and rule.by_rule_on is not null

) as short
    on true
left join {{parts}}.free_time_costs as tariff
    on tariff.rule_name = rule.rule_name
cross join lateral (

    select
        rule.off_days,
        rule.weekend,
        rule.clock_on,
        rule.by_rule_on as last_free_on,
        short.days as days_over,
        null::integer as days_now
    offset 0

) as owed
left join lateral (

    {{fragment cost_of}}

) as cost
    on true;
