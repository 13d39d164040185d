-- Exceptions that need attention
--
-- One row per live container and exception that is open at as_of(); a container can have several.
--
-- exception, and when it is open:
--   overdue             it is still there after the binding day of its stay, reported or by a
--                       rule of free_time_rules (container_stays)
--   last_free_day_near  the binding day is today or within two days, and it is not ready: not
--                       reported as available, or blocked by a hold
--   appointment_late    its appointment at the port is after the binding day
--   appointment_missed  its appointment at the port has passed, and it is still there
--   day_unknown         it is there, and its last free day or the zone of the place is unreadable
--   long_there          it lacks a last free day and has been there longer than four in five
--                       others; at the port trucks are compared with trucks, trains with trains
--   hold_new            a hold that is not pending was first seen in the last 24 hours and is open
--   hold_cleared        a hold that was not pending was seen gone in the last 24 hours, no such
--                       hold is open where it is, and the container has not left the place
--   eta_slipped         the ETA at the port of discharge is more than 24 hours later than it was
--                       known to be 24 hours ago
--   eta_passed          the ETA has passed and the arrival was not reported
--   left_behind         its shipment arrived more than two days ago, and nothing says that the
--                       container itself did
--   rolled              vessel or voyage to the port of discharge differs from the one three days
--                       ago (see eta_changes)
--   rail_silent         it left by rail, has not arrived at the ramp, and the last news of it is
--                       three days old
--   no_news             it left the port of lading, or should have, has not gone out, and the last
--                       news of it is 21 days old, longer than most crossings
--   empty_not_returned  its empty is not back, and the free days of the detention rule are over;
--                       without a rule: ten days after it was picked up
--   tracking_stopped    the service no longer tracks it although it has not gone out, unless the
--                       booking was cancelled
-- After tracking has stopped only tracking_stopped, the terminal's holds, and what the terminal
-- would tell (is_untold of container_stays) are open, because nobody would report the end of the
-- others.
-- News is an event that was recorded, or a change of the container that we saw.
--
-- since_at: when it began: the midnight after the last free day at the place, the first sight of
-- the hold, the appointment missed, the passed ETA, the arrival of the shipment, the last news
-- (else the creation of the container), the tenth day; for last_free_day_near, appointment_late,
-- day_unknown and long_there the start of the stay; for eta_slipped and rolled the instant compared
-- with. hours run from there to as_of().
-- severity: high costs money or soon will (overdue, last_free_day_near, appointment_late, and
-- empty_not_returned by a rule); low is information (hold_cleared, no_news); medium the others,
-- which break a plan.
-- cost_amount: for overdue the fees or the estimate of demurrage_exposure, for empty_not_returned
-- the detention by the rules so far. A day of a charge is in one row, so the amounts of a currency
-- can be added.
--
-- Cost: the view reads six views, and charge_clocks if there are rules; narrow it by line, terminal
-- or container, or leave out the cost columns, which read demurrage_exposure.

create view {{analytics}}.attention as
with

of_stays as (

    select
        stay.container_id,
        stay.shipment_id,
        stay.pod_terminal_id,
        stay.container_number,
        stay.bill_of_lading_number,
        stay.shipping_line_scac,
        stay.place,
        found.exception,
        found.sentence,
        found.since_at
    from {{analytics}}.container_stays as stay
    cross join lateral (

        select
            case when stay.place = 'port' then stay.pod_terminal_id end as terminal_id,
            case when stay.place = 'port' then stay.mode end as mode,
            case when stay.place = 'ramp' then stay.place_locode end as locode,
            stay.state = 'none' as is_sought
        offset 0

    ) as sought
    left join lateral (

        {{fragment usual_stay}}

    ) as others
        on true
    cross join lateral (

        select
            'overdue' as exception,
            format(
                '%s past the last free day %s (%s) at %s',
                case when stay.days_over = 1 then '1 day' else stay.days_over || ' days' end,
                to_char(stay.binding_on, 'YYYY-MM-DD'),
                stay.binding_source,
                coalesce(stay.terminal_name, stay.place_name, 'the ' || stay.place)
            ) as sentence,
            (stay.binding_on + 1)::timestamp at time zone stay.time_zone as since_at
        where stay.state = 'overdue'

        union all

        select
            'last_free_day_near' as exception,
            format(
                'last free day %s (%s) at %s and not ready: %s',
                case stay.days_left
                    when 0 then 'is today'
                    when 1 then 'is tomorrow'
                    else 'is ' || to_char(stay.binding_on, 'YYYY-MM-DD')
                end,
                stay.binding_source,
                coalesce(stay.terminal_name, stay.place_name, 'the ' || stay.place),
                case
                    when stay.blocking_holds <> '{}'
                        then 'held by ' || array_to_string(stay.blocking_holds, ', ')
                    when stay.is_available is null then 'availability unknown'
                    else 'not available'
                end
            ) as sentence,
            stay.start_at as since_at
        where stay.state in ('upcoming', 'due_today')
            and stay.days_left <= 2
            and (stay.is_available is not true or stay.blocking_holds <> '{}')

        union all

        select
            'appointment_late' as exception,
            format(
                'appointment on %s, after the last free day %s (%s)',
                to_char(stay.pickup_appointment_at at time zone stay.wall_zone, 'YYYY-MM-DD'),
                to_char(stay.binding_on, 'YYYY-MM-DD'),
                stay.binding_source
            ) as sentence,
            stay.start_at as since_at
        where stay.state in ('upcoming', 'due_today', 'overdue')
            and stay.place = 'port'
            and stay.pickup_appointment_at > {{analytics}}.as_of()
            and (stay.pickup_appointment_at at time zone stay.wall_zone)::date > stay.binding_on

        union all

        select
            'appointment_missed' as exception,
            format(
                'appointment on %s has passed, and it is still there',
                to_char(stay.pickup_appointment_at at time zone stay.wall_zone, 'YYYY-MM-DD')
            ) as sentence,
            stay.pickup_appointment_at as since_at
        where stay.place = 'port'
            and not stay.is_untold
            and stay.pickup_appointment_at < {{analytics}}.as_of()

        union all

        select
            'day_unknown' as exception,
            format(
                'its last free day at %s cannot be told: %s',
                coalesce(stay.terminal_name, stay.place_name, 'the ' || stay.place),
                case
                    when stay.time_zone is null then 'the zone of the place is not known'
                    else 'what was sent is no day'
                end
            ) as sentence,
            stay.start_at as since_at
        where stay.state = 'unknown'
            and not stay.is_untold

        union all

        select
            'long_there' as exception,
            format(
                'no last free day, and there for %s days: longer than four in five',
                round(extract(epoch from {{analytics}}.as_of() - stay.start_at) / 86400, 1)
            ) as sentence,
            stay.start_at as since_at
        where {{analytics}}.as_of() - stay.start_at > others.usual
            and not stay.is_out

    ) as found
    where stay.has_begun
        and not stay.has_ended

),

of_journeys as (

    select
        journey.container_id,
        journey.shipment_id,
        journey.pod_terminal_id,
        journey.container_number,
        journey.bill_of_lading_number,
        journey.shipping_line_scac,
        'port' as place,
        found.exception,
        found.sentence,
        found.since_at
    from {{parts}}.journey_facts as journey
    -- The ETA as known a day ago, and the vessel as known three days ago.
    left join lateral (

        select version.pod_eta_at
        from {{data}}.shipment_history as version
        where not journey.has_vessel_arrived
            and version.shipment_id = journey.shipment_id
            and version.valid_from <= {{analytics}}.as_of() - interval '24 hours'
            and (
                version.valid_to is null
                or version.valid_to > {{analytics}}.as_of() - interval '24 hours'
            )
        limit 1

    ) as yesterday
        on true
    left join lateral (

        select
            version.pod_vessel_imo,
            version.pod_vessel_name,
            version.pod_voyage_number
        from {{data}}.shipment_history as version
        where not journey.has_vessel_arrived
            and version.shipment_id = journey.shipment_id
            and version.valid_from <= {{analytics}}.as_of() - interval '3 days'
            and (
                version.valid_to is null
                or version.valid_to > {{analytics}}.as_of() - interval '3 days'
            )
        limit 1

    ) as before
        on true
    left join lateral (

        select greatest(max(event.created_at), journey.changed_at) as last_at
        from {{parts}}.known_transport_events as event
        where (journey.is_on_rail or journey.should_have_departed)
            and not journey.is_out
            and event.container_id = journey.container_id
            and event.created_at <= {{analytics}}.as_of()

    ) as news
        on true
    cross join lateral (

        select
            'eta_slipped' as exception,
            format(
                'ETA at %s slipped by %s hours since yesterday, to %s',
                coalesce(
                    journey.port_of_discharge_name, journey.port_of_discharge_locode, 'the port'
                ),
                round(
                    extract(epoch from journey.pod_eta_at - yesterday.pod_eta_at) / 3600
                ),
                to_char(journey.pod_eta_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI "UTC"')
            ) as sentence,
            {{analytics}}.as_of() - interval '24 hours' as since_at
        where not journey.has_vessel_arrived
            and journey.pod_eta_at - yesterday.pod_eta_at > interval '24 hours'

        union all

        select
            'eta_passed' as exception,
            format(
                'ETA at %s was %s and nobody said that it arrived',
                coalesce(
                    journey.port_of_discharge_name, journey.port_of_discharge_locode, 'the port'
                ),
                to_char(journey.pod_eta_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI "UTC"')
            ) as sentence,
            journey.pod_eta_at as since_at
        where not journey.has_vessel_arrived
            and journey.pod_eta_at < {{analytics}}.as_of()

        union all

        select
            'left_behind' as exception,
            format(
                'its shipment arrived at %s on %s, and nobody said that it did',
                coalesce(
                    journey.port_of_discharge_name, journey.port_of_discharge_locode, 'the port'
                ),
                to_char(journey.shipment_arrived_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI "UTC"')
            ) as sentence,
            journey.shipment_arrived_at as since_at
        where journey.is_left_behind

        union all

        select
            'rolled' as exception,
            format(
                'comes on %s, not on %s as three days ago',
                concat_ws(
                    ' ',
                    coalesce(journey.pod_vessel_name, journey.pod_vessel_imo),
                    journey.pod_voyage_number
                ),
                concat_ws(
                    ' ',
                    coalesce(before.pod_vessel_name, before.pod_vessel_imo),
                    before.pod_voyage_number
                )
            ) as sentence,
            {{analytics}}.as_of() - interval '3 days' as since_at
        where not journey.has_vessel_arrived
            and {{analytics}}.is_other_voyage(
                before.pod_vessel_imo,
                before.pod_vessel_name,
                before.pod_voyage_number,
                journey.pod_vessel_imo,
                journey.pod_vessel_name,
                journey.pod_voyage_number
            )

        union all

        select
            'rail_silent' as exception,
            format(
                'on the rail, and nothing was recorded since %s',
                to_char(news.last_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI "UTC"')
            ) as sentence,
            news.last_at as since_at
        where journey.is_on_rail
            and news.last_at < {{analytics}}.as_of() - interval '3 days'

        union all

        select
            'no_news' as exception,
            format(
                'nothing was recorded since %s',
                to_char(
                    coalesce(news.last_at, journey.created_at) at time zone 'UTC',
                    'YYYY-MM-DD HH24:MI "UTC"'
                )
            ) as sentence,
            coalesce(news.last_at, journey.created_at) as since_at
        where journey.should_have_departed
            and not journey.is_on_rail
            and not journey.is_out
            and coalesce(news.last_at, journey.created_at)
                < {{analytics}}.as_of() - interval '21 days'

        union all

        select
            'tracking_stopped' as exception,
            format(
                'the service no longer asks the line: %s',
                replace(coalesce(journey.tracking_stopped_reason, 'no reason said'), '_', ' ')
            ) as sentence,
            journey.tracking_stopped_at as since_at
        where journey.is_tracking_stopped
            and not journey.is_out
            and journey.tracking_stopped_reason is distinct from 'booking_cancelled'

    ) as found
    -- A journey whose line is no longer asked has that row alone.
    where journey.is_tracking_stopped = (found.exception = 'tracking_stopped')

),

of_others as (

    select
        journey.container_id,
        journey.shipment_id,
        journey.pod_terminal_id,
        journey.container_number,
        journey.bill_of_lading_number,
        journey.shipping_line_scac,
        found.place,
        found.exception,
        found.sentence,
        found.since_at,
        null::numeric as amount,
        null as currency_code,
        false as is_charged
    -- Few containers have a hold that came or went within a day: only theirs are put together.
    from (
        select distinct version.container_id
        from {{data}}.container_hold_history as version
        where version.valid_from <= {{analytics}}.as_of()
            and (
                version.valid_from > {{analytics}}.as_of() - interval '24 hours'
                or version.valid_to > {{analytics}}.as_of() - interval '24 hours'
                and version.valid_to <= {{analytics}}.as_of()
            )
    ) as recent
    cross join lateral (

        select
            own.container_id,
            own.shipment_id,
            own.pod_terminal_id,
            own.container_number,
            own.bill_of_lading_number,
            own.shipping_line_scac,
            own.has_left_port,
            own.has_reached_ramp,
            own.is_delivered
        from {{parts}}.journey_facts as own
        where own.container_id = recent.container_id
        offset 0

    ) as journey
    cross join lateral (

        select
            known.place,
            known.hold_name,
            known.description,
            known.is_open,
            known.is_start_known,
            known.placed_at,
            known.cleared_at,
            at_last.place as cleared_place,
            row_number() over (
                partition by at_last.place, known.is_open
                order by known.cleared_at desc, known.hold_key
            ) = 1 as is_last
        from {{analytics}}.hold_durations as known
        cross join lateral (

            select case when journey.has_reached_ramp then 'ramp' else known.place end as place

        ) as at_last
        where known.container_id = recent.container_id
            and known.status is distinct from 'pending'
        offset 0

    ) as hold
    cross join lateral (

        select
            hold.place,
            'hold_new' as exception,
            format(
                'held by %s%s',
                coalesce(hold.hold_name, 'an unnamed hold'),
                ': ' || hold.description
            ) as sentence,
            hold.placed_at as since_at
        where hold.is_open
            and hold.is_start_known
            and hold.placed_at > {{analytics}}.as_of() - interval '24 hours'

        union all

        select
            hold.cleared_place as place,
            'hold_cleared' as exception,
            format(
                'no hold is left: %s was cleared', coalesce(hold.hold_name, 'an unnamed hold')
            ) as sentence,
            hold.cleared_at as since_at
        where hold.is_last
            and hold.cleared_at > {{analytics}}.as_of() - interval '24 hours'
            and not case hold.cleared_place
                when 'ramp' then journey.is_delivered
                else journey.has_left_port
            end
            and not exists (
                select
                from {{parts}}.known_holds as standing
                where standing.container_id = journey.container_id
                    and (journey.has_reached_ramp or standing.place = hold.place)
                    and standing.status is distinct from 'pending'
            )

    ) as found

    union all

    select
        empty.container_id,
        empty.shipment_id,
        empty.pod_terminal_id,
        empty.container_number,
        empty.bill_of_lading_number,
        empty.shipping_line_scac,
        'port' as place,
        'empty_not_returned' as exception,
        format(
            'picked up %s days ago, and the empty is not back', floor(empty.days)
        ) as sentence,
        coalesce(clock.since_at, empty.full_out_at + interval '10 days') as since_at,
        clock.amount,
        clock.currency_code,
        clock.container_id is not null as is_charged
    from {{analytics}}.empty_return_times as empty
    -- Looked up one by one, so that a question about a few containers does not read every clock.
    left join lateral (

        select
            running.container_id,
            running.state,
            running.amount,
            running.currency_code,
            (running.last_free_on + 1)::timestamp at time zone running.time_zone as since_at
        from {{analytics}}.charge_clocks as running
        where running.container_id = empty.container_id
            and (
                running.charge = 'detention' and running.last_free_source = 'rule'
                or running.charge = 'demurrage' and running.until = 'empty_return'
            )
            and running.state in ('upcoming', 'due_today', 'overdue')
            and exists (select from {{analytics}}.free_time_rules)
        offset 0

    ) as clock
        on true
    where empty.state = 'out'
        and not empty.is_tracking_stopped
        and case
            when clock.container_id is null
                then empty.full_out_at < {{analytics}}.as_of() - interval '10 days'
            else clock.state = 'overdue'
        end

),

found as (

    select
        stay.container_id,
        stay.shipment_id,
        stay.pod_terminal_id,
        stay.container_number,
        stay.bill_of_lading_number,
        stay.shipping_line_scac,
        stay.place,
        stay.exception,
        stay.sentence,
        stay.since_at,
        null::numeric as amount,
        null as currency_code,
        false as is_charged
    from of_stays as stay

    union all

    select
        journey.container_id,
        journey.shipment_id,
        journey.pod_terminal_id,
        journey.container_number,
        journey.bill_of_lading_number,
        journey.shipping_line_scac,
        journey.place,
        journey.exception,
        journey.sentence,
        journey.since_at,
        null as amount,
        null as currency_code,
        false as is_charged
    from of_journeys as journey

    union all

    select
        other.container_id,
        other.shipment_id,
        other.pod_terminal_id,
        other.container_number,
        other.bill_of_lading_number,
        other.shipping_line_scac,
        other.place,
        other.exception,
        other.sentence,
        other.since_at,
        other.amount,
        other.currency_code,
        other.is_charged
    from of_others as other

)

select
    found.container_id,
    found.shipment_id,
    found.pod_terminal_id,
    found.container_number,
    found.bill_of_lading_number,
    found.shipping_line_scac,
    customer.customer_name,
    customer.ref_numbers_text,
    customer.tags_text,
    customer.custom_fields,
    found.exception,
    case
        when found.is_charged
            or found.exception in ('overdue', 'last_free_day_near', 'appointment_late')
            then 'high'
        when found.exception in ('hold_cleared', 'no_news') then 'low'
        else 'medium'
    end as severity,
    found.sentence,
    round(extract(epoch from {{analytics}}.as_of() - found.since_at) / 3600, 1) as hours,
    coalesce(exposure.fee_amount, exposure.estimate_amount, found.amount) as cost_amount,
    case
        when exposure.fee_amount is not null then exposure.fee_currency_code
        when exposure.estimate_amount is not null then exposure.estimate_currency_code
        else found.currency_code
    end as cost_currency_code,
    found.since_at,
    case
        when exposure.fee_amount is not null then exposure.fee_currency_code
        when exposure.estimate_amount is not null then exposure.estimate_currency_code
        else found.currency_code
    end as currency_code
from found
-- Looked up one by one: most exposed containers have left, and are not exceptions.
left join lateral (

    select
        cost.fee_amount,
        cost.fee_currency_code,
        cost.estimate_amount,
        cost.estimate_currency_code
    from {{analytics}}.demurrage_exposure as cost
    where found.exception = 'overdue'
        and cost.container_id = found.container_id
        and cost.place = found.place
    offset 0

) as exposure
    on true
left join {{analytics}}.container_customers as customer
    on customer.container_id = found.container_id;
