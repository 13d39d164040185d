-- Why containers went past their last free day
--
-- One row per container and stay that is or was past its binding day, as known at as_of(): overdue
-- or out_late of container_stays, with the days, the fees and the estimate of demurrage_exposure.
-- Unknown stays are left out: nobody knows how many days they are over.
--
-- Each calendar day over has one cause, from the facts known at its end: at midnight there, on
-- the day of as_of() at as_of(), and on the day it left right before it left, because a terminal
-- forgets what is gone. The causes in this order, the first that applies:
--   unavailable       reported as not available
--   on_hold           with a blocking hold: any but a pending one, at the port of its terminal, at
--                     the ramp of both lists
--   unknown           nobody says whether it is available
-- and of a day on which it was ready, that is available and not held:
--   other             it waits at the port for its train, which needs no appointment
--   no_appointment    no pickup appointment was known; none is ever known at the ramp, because the
--                     service sends the one of the port's terminal
--   appointment_late  the appointment was on a later day, or was missed: it had passed, and the
--                     container was still there. On the day it left, an appointment of a day before
--                     was missed, unless less than 12 hours lie between them: a visit over midnight
--   other             the rest: it left on the day of its appointment, or has it today and the hour
--                     has not come
-- The six numbers of days add up to days_over. Available is what is_available of container_stays
-- says: at the port the word of the terminal, at the ramp a no of that word, else the status.
-- Without a zone of the place no end of a day is known, and each day is unknown.
-- main_cause has the most days; of equal ones the first of: unavailable, on_hold, no_appointment,
-- appointment_late, unknown, other.
--
-- ready_days_in_time: days from the start of the stay to the binding day, both included, at whose
-- end it was ready: chances that were missed. Null where the day of the start is not known, or on
-- none of these days is known whether it was available; 0 if the stay began after them.
-- cost_amount: fees listed now, else the estimate by the rules, of exactly one currency, never both
-- together. Null: neither is known.
--
-- Cost: one look into two histories for each day of the stay from its start on.

create view {{analytics}}.why_late as
select
    late.container_id,
    late.shipment_id,
    late.pod_terminal_id,
    late.container_number,
    late.bill_of_lading_number,
    late.shipping_line_scac,
    late.pod_terminal,
    late.place,
    late.customer_name,
    late.ref_numbers_text,
    late.tags_text,
    late.custom_fields,
    late.state,
    late.days_over,
    caused.days_unavailable,
    caused.days_on_hold,
    caused.days_no_appointment,
    caused.days_appointment_late,
    caused.days_unknown,
    caused.days_other,
    most.main_cause,
    case
        when late.started_on > late.binding_on then 0
        when caused.known_days_in_time > 0 then caused.ready_days_in_time
    end as ready_days_in_time,
    late.cost_amount,
    late.cost_currency_code as currency_code,
    late.binding_on,
    late.out_on
from {{parts}}.late_stays as late
-- Computed once for a stay, and not for each of its days.
cross join lateral (

    select
        late.time_zone,
        late.wall_zone,
        late.binding_on,
        late.out_on,
        late.first_on,
        late.last_on,
        late.left_at
    offset 0

) as span
cross join lateral (

    select
        count(*) filter (where fact.is_over and fact.cause = 'unavailable')::integer
            as days_unavailable,
        count(*) filter (where fact.is_over and fact.cause = 'on_hold')::integer as days_on_hold,
        count(*) filter (where fact.is_over and fact.cause = 'no_appointment')::integer
            as days_no_appointment,
        count(*) filter (where fact.is_over and fact.cause = 'appointment_late')::integer
            as days_appointment_late,
        count(*) filter (where fact.is_over and fact.cause = 'unknown')::integer as days_unknown,
        count(*) filter (where fact.is_over and fact.cause = 'other')::integer as days_other,
        count(*) filter (
            where not fact.is_over
                and fact.cause in ('no_appointment', 'appointment_late', 'other')
        )::integer as ready_days_in_time,
        count(*) filter (where not fact.is_over and fact.is_available is not null)
            as known_days_in_time
    from (
        select
            day.number > span.binding_on - span.first_on as is_over,
            said.is_available,
            case
                when not said.is_available then 'unavailable'
                when held.is_held then 'on_hold'
                when said.is_available is null then 'unknown'
                when late.is_for_train then 'other'
                when said.appointment_at is null then 'no_appointment'
                when said.appointment_on > ends.local_on then 'appointment_late'
                when ends.local_on = span.out_on
                    and (
                        said.appointment_on = ends.local_on
                        or said.appointment_at > span.left_at - interval '12 hours'
                    )
                    then 'other'
                when said.appointment_at < ends.end_at then 'appointment_late'
                else 'other'
            end as cause
        from generate_series(0, span.last_on - span.first_on) as day (number)
        cross join lateral (
            select
                span.first_on + day.number as local_on,
                -- An observation at as_of() itself counts as known.
                case
                    when span.time_zone is not null
                        then least(
                            (span.first_on + day.number + 1)::timestamp
                                at time zone span.time_zone,
                            span.left_at,
                            {{analytics}}.as_of() + interval '1 microsecond'
                        )
                end as end_at
        ) as ends
        left join lateral (
            select
                case
                    when late.place = 'port'
                        then case
                            when version.availability_known is not false
                                then version.available_for_pickup
                        end
                    when version.availability_known is not false
                        and not version.available_for_pickup
                        then false
                    when version.current_status = 'available' then true
                    when version.current_status in ('not_available', 'grounded') then false
                end as is_available,
                case
                    when late.place = 'port'
                        then (version.pickup_appointment_at at time zone span.wall_zone)::date
                end as appointment_on,
                case
                    when late.place = 'port'
                        then (version.pickup_appointment_at at time zone span.wall_zone)
                            at time zone span.time_zone
                end as appointment_at
            from {{data}}.container_history as version
            where version.container_id = late.container_id
                and version.valid_from < ends.end_at
                and (version.valid_to is null or version.valid_to >= ends.end_at)
            order by version.valid_from desc
            limit 1
        ) as said
            on true
        cross join lateral (
            select
                exists (
                    select
                    from {{data}}.container_hold_history as version
                    where version.container_id = late.container_id
                        and version.place in ('port', late.place)
                        and version.status is distinct from 'pending'
                        and version.valid_from < ends.end_at
                        and (version.valid_to is null or version.valid_to >= ends.end_at)
                ) as is_held
        ) as held
    ) as fact

) as caused
cross join lateral (

    select cause.name as main_cause
    from (
        values
            (1, 'unavailable', caused.days_unavailable),
            (2, 'on_hold', caused.days_on_hold),
            (3, 'no_appointment', caused.days_no_appointment),
            (4, 'appointment_late', caused.days_appointment_late),
            (5, 'unknown', caused.days_unknown),
            (6, 'other', caused.days_other)
    ) as cause (rank, name, days)
    order by cause.days desc, cause.rank
    limit 1

) as most
order by
    late.cost_amount desc nulls last,
    late.days_over desc,
    late.container_id,
    late.place;
