-- Holds that came or went within a day
--
-- One row per container and hold that is new, and one per container and place where the last hold
-- was cleared. attention says when each is open.

create view {{parts}}.hold_exceptions as
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
    found.since_at
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

) as found;
