-- Exceptions of containers at the port or at the ramp
--
-- One row per container that is there and exception. attention says when each is open.

create view {{parts}}.stay_exceptions as
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
            'last free day at %s is unreadable: %s',
            coalesce(stay.terminal_name, stay.place_name, 'the ' || stay.place),
            case
                when stay.time_zone is null then 'the time zone of the place is not known'
                else 'what the service sent is not a date'
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
    and not stay.has_ended;
