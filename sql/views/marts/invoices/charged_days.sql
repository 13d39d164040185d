-- Every charged day, with the facts known about it
--
-- One row per container, place, charge and calendar day past its last free day, as known at
-- as_of(). Compare it with an invoice, line by line. See charge_clocks for the clock, the rule and
-- the last free day.
--
-- holds and fees_seen: the holds other than pending that were on the container at any time of that
-- day, as far as we saw, and the fees listed at its end: at the port those of its terminal, at the
-- ramp those of both lists.
-- was_available: whether the container was reported as available at any time of the day (null: not
-- reported): at the port by its terminal, at the ramp by its status. The flag of the terminal that
-- keeps a container from being ready at the ramp (is_available of container_stays) can still be the
-- port's, and disputes no money.
-- last_free_seen_on is the last free day that the charging party reported at the end of that day:
-- an invoice that counts from another day was wrong at that time. If it was reported without a
-- zone, it is the day in the zone of the place.
-- is_working_day: neither weekend nor holiday by the calendars of the clock; without a rule neither
-- Saturday nor Sunday.
-- charge_amount is what the day adds to the amount of the clock: 0 for a day that the rule does not
-- charge, or past its cap; with the rest of the minimum on the first day.
-- Days after a merged clock left the place show neither holds, fees nor availability.
--
-- Cost: a look into three histories for each day. Narrow it by container, terminal or line.

create view {{analytics}}.charged_days as
select
    clock.container_id,
    clock.shipment_id,
    clock.pod_terminal_id,
    clock.container_number,
    clock.bill_of_lading_number,
    clock.shipping_line_scac,
    clock.pod_terminal,
    clock.place,
    clock.charge,
    clock.rule_name,
    clock.last_free_source,
    clock.currency_code,
    clock.customer_name,
    clock.ref_numbers_text,
    clock.tags_text,
    clock.custom_fields,
    coalesce(seen.holds, '{}') as holds,
    nullif(array_to_string(seen.holds, ', '), '') as holds_text,
    coalesce(seen.fees, '{}') as fees_seen,
    nullif(array_to_string(seen.fees, ', '), '') as fees_seen_text,
    past.day_over,
    past.charge_amount,
    seen.was_available,
    past.is_working_day,
    past.charged_on,
    span.last_free_on,
    seen.last_free_on as last_free_seen_on
from {{analytics}}.charge_clocks as clock
-- Computed once for a clock, and not for each of its days.
cross join lateral (

    select
        clock.days_over,
        clock.last_free_on,
        clock.time_zone,
        case
            when clock.place <> 'out' and clock.until = 'empty_return'
                then coalesce(clock.left_on, 'infinity')
            else 'infinity'
        end as place_until_on
    where clock.days_over > 0
    offset 0

) as span
-- Observations of the container, gathered once and not for each of its days.
cross join lateral (

    select
        array_agg(
            case
                when clock.place = 'port'
                    then case
                        when version.availability_known is not false
                            then version.available_for_pickup
                    end
                when version.current_status = 'available' then true
                when version.current_status in ('not_available', 'grounded') then false
            end
        ) as is_available,
        array_agg(version.valid_from) as from_at,
        array_agg(version.valid_to) as to_at
    from {{data}}.container_history as version
    where clock.place in ('port', 'ramp')
        and version.container_id = clock.container_id

) as versions
cross join lateral (

    select
        array_agg(coalesce(version.name, 'unnamed')) as name,
        array_agg(version.valid_from) as from_at,
        array_agg(version.valid_to) as to_at
    from {{data}}.container_hold_history as version
    -- A terminal that the container has left neither holds it nor charges for it.
    where clock.place <> 'out'
        and version.place in ('port', clock.place)
        and version.container_id = clock.container_id
        and version.status is distinct from 'pending'

) as holds
cross join lateral (

    select
        array_agg(concat_ws(' ', version.type, version.amount, version.currency_code)) as fee,
        array_agg(version.valid_from) as from_at,
        array_agg(version.valid_to) as to_at
    from {{data}}.container_fee_history as version
    where clock.place <> 'out'
        and version.place in ('port', clock.place)
        and version.container_id = clock.container_id

) as fees
cross join lateral (

    select
        array_agg(version.local_date) as last_free_on,
        array_agg(version.valid_from) as from_at,
        array_agg(version.valid_to) as to_at
    from {{data}}.container_import_deadline_history as version
    where version.container_id = clock.container_id
        and version.kind = case
            when clock.place = 'ramp' and clock.charge = 'storage' then 'pickup_lfd_rail'
            when clock.place = 'port' and clock.charge = 'storage' then 'pickup_lfd_terminal'
            when clock.place = 'port' and clock.charge = 'demurrage' then 'pickup_lfd_line'
        end

) as deadlines
left join {{parts}}.free_time_costs as tariff
    on tariff.rule_name = clock.rule_name
cross join lateral (

    {{fragment days_of}}

) as past
-- The day at its place, and where an observation at as_of() itself counts as known.
cross join lateral (

    select
        span.place_until_on >= past.charged_on as is_at_place,
        past.charged_on::timestamp at time zone span.time_zone as from_at,
        case
            when span.time_zone is not null
                then least(
                    (past.charged_on + 1)::timestamp at time zone span.time_zone,
                    {{analytics}}.as_of() + interval '1 microsecond'
                )
        end as to_at
    offset 0

) as bound
-- Computed once for a day, and not again for each text of a list; only for containers with holds or
-- fees, which most lack.
cross join lateral (

    select
        case
            when versions.from_at is not null and bound.is_at_place
                then (
                    select bool_or(version.is_available)
                    from unnest(versions.is_available, versions.from_at, versions.to_at)
                        as version (is_available, from_at, to_at)
                    where version.from_at < bound.to_at
                        and (version.to_at is null or version.to_at > bound.from_at)
                )
        end as was_available,
        case
            when holds.from_at is not null and bound.is_at_place
                then (
                    select array_agg(distinct version.name)
                    from unnest(holds.name, holds.from_at, holds.to_at)
                        as version (name, from_at, to_at)
                    where version.from_at < bound.to_at
                        and (version.to_at is null or version.to_at > bound.from_at)
                )
        end as holds,
        case
            when fees.from_at is not null and bound.is_at_place
                then (
                    select array_agg(distinct version.fee)
                    from unnest(fees.fee, fees.from_at, fees.to_at)
                        as version (fee, from_at, to_at)
                    where version.from_at < bound.to_at
                        and (version.to_at is null or version.to_at >= bound.to_at)
                )
        end as fees,
        case
            when deadlines.from_at is not null
                then (
                    select version.last_free_on
                    from unnest(deadlines.last_free_on, deadlines.from_at, deadlines.to_at)
                        as version (last_free_on, from_at, to_at)
                    where version.from_at < bound.to_at
                        and (version.to_at is null or version.to_at >= bound.to_at)
                )
        end as last_free_on
    offset 0

) as seen;
