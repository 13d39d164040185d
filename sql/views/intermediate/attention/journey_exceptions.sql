-- Exceptions of containers under way
--
-- One row per container and exception. attention says when each is open. News is an event that was
-- recorded, or a change of the container that we saw.

create view {{parts}}.journey_exceptions as
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
            'the service stopped asking the line: %s',
            replace(coalesce(journey.tracking_stopped_reason, 'no reason said'), '_', ' ')
        ) as sentence,
        journey.tracking_stopped_at as since_at
    where journey.is_tracking_stopped
        and not journey.is_out
        and journey.tracking_stopped_reason is distinct from 'booking_cancelled'

) as found
-- A journey whose line is no longer asked has that row alone.
where journey.is_tracking_stopped = (found.exception = 'tracking_stopped');
