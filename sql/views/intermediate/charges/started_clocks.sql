-- Clocks that have started, before a rule is chosen
--
-- One row per container, place and charge whose clock of free time runs or ran, as known at
-- as_of(), with all that a rule is chosen by. A stay starts the clocks of demurrage, storage and
-- each other charge that rules begin there; the gate-out those of detention and of charges that
-- rules begin with it. A box under two shipments has its clocks under one of them (tracked_twice).
-- ruled_clocks leaves out clocks that nobody charges.

create view {{parts}}.started_clocks as
select
    stay.container_id,
    stay.shipment_id,
    stay.pod_terminal_id,
    stay.container_number,
    stay.bill_of_lading_number,
    stay.shipping_line_scac,
    stay.pod_terminal,
    stay.terminal_names,
    stay.place_locode,
    stay.equipment_type,
    stay.equipment_length,
    stay.equipment_height,
    stay.customer_name,
    stay.ref_numbers,
    stay.ref_numbers_text,
    stay.tags,
    stay.tags_text,
    stay.custom_fields,
    stay.time_zone,
    stay.today_on,
    stay.is_tracking_stopped,
    stay.is_returned,
    stay.returned_on,
    stay.picked_up_on,
    stay.departed_on,
    stay.is_merged,
    stay.is_merged_from_port,
    stay.has_reached_ramp,
    stay.is_out,
    stay.out_on as left_on,
    clock.is_untold,
    clock.charge,
    clock.place,
    clock.reporter,
    clock.has_ended,
    clock.out_on,
    clock.reported_on,
    clock.other_on,
    clock.other_source,
    case
        when clock.reported_on is not null then clock.reported_on
        when clock.charge in ('demurrage', 'storage') and stay.is_of_service
            then stay.reported_on
    end as compared_on,
    clock.started_on,
    clock.arrived_on,
    clock.berthed_on,
    clock.available_on
from {{parts}}.stay_facts as stay
cross join lateral (

    select
        charge.charge,
        stay.place,
        case
            when stay.place = 'ramp' then 'rail'
            when charge.charge = 'storage' then 'terminal'
            else 'line'
        end as reporter,
        stay.has_ended,
        stay.is_untold,
        stay.out_on,
        case
            when charge.charge = 'storage' and stay.place = 'ramp' then stay.rail_on
            when charge.charge = 'storage' then stay.terminal_on
            when charge.charge = 'demurrage' then stay.line_on
        end as reported_on,
        case when charge.charge in ('demurrage', 'storage') then stay.reported_on end
            as other_on,
        case
            when charge.charge not in ('demurrage', 'storage') then null
            when stay.reported_on = stay.terminal_on then 'terminal'
            when stay.reported_on = stay.line_on then 'line'
            when stay.reported_on = stay.rail_on then 'rail'
            when stay.reported_on is not null then 'service'
        end as other_source,
        stay.started_on,
        stay.arrived_on,
        stay.berthed_on,
        stay.available_on
    from unnest(
        array['demurrage', 'storage']
        || array(
            select distinct rule.charge
            from {{analytics}}.free_time_rules as rule
            where rule.charge not in ('demurrage', 'storage', 'detention')
                and rule.starts_with <> 'gate_out'
        )
    ) as charge (charge)
    where stay.has_begun

    union all

    select
        charge.charge,
        'out' as place,
        'line' as reporter,
        stay.is_returned as has_ended,
        stay.is_tracking_stopped as is_untold,
        stay.returned_on as out_on,
        null::date as reported_on,
        null::date as other_on,
        null as other_source,
        stay.out_on as started_on,
        stay.out_on as arrived_on,
        stay.out_on as berthed_on,
        stay.out_on as available_on
    from unnest(
        array['detention']
        || array(
            select distinct rule.charge
            from {{analytics}}.free_time_rules as rule
            where rule.charge <> 'detention'
                and rule.starts_with = 'gate_out'
        )
    ) as charge (charge)
    where stay.has_ended
        and stay.is_last

) as clock
where not exists (
        select
        from {{parts}}.tracked_pairs as twice
        where twice.container_id = stay.container_id
            and twice.is_counted_elsewhere
    );
