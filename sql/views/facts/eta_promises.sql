-- Promises of the ETA, and whether the ships kept them
--
-- One row per shipment and horizon (2, 7 and 14 days), if we ever saw an ETA at the port of
-- discharge that was exactly so far ahead, as known at as_of(). The base of the ETA figures in
-- carriers.
--
-- A promise of 2 days is the ETA that our version of the shipment had when it was exactly 2 times
-- 24 hours ahead: at that moment the reader saw "in 2 days". promised_at is that moment, due_at the
-- ETA. An ETA that is postponed after that can be 2 days ahead again; the first time counts, so
-- each shipment has at most one promise of a horizon. An ETA that passes over the horizon in a
-- jump, or that we first saw closer, promises nothing there.
-- So the horizon is known to the reader at the time. Days before the arrival, as in eta_accuracy,
-- are known only afterwards, and leave out the ships that have not come.
-- No promise: an ETA in a version that says that the ship has arrived, and one that reached the
-- horizon at or after the arrival, because nobody had reported the arrival yet.
--
-- error_hours: arrival minus due_at; late is positive. For a ship that has not arrived: how late it
-- is so far, to as_of() or to the instant at which the service stopped asking the line; in the end
-- it is more. has_arrived tells the two apart.
-- outcome:
--   kept       it arrived within 24 hours of due_at, before or after; exactly 24 hours are kept
--   not_kept   it arrived outside of that window; or it has not arrived, and more than 24 hours
--              have passed since due_at
--   undecided  it has not arrived, and 24 hours have not passed
--   unknown    nobody would tell. Either a container of it has arrived or landed (journeys) and no
--              arrival of the shipment is reported; or the service stopped asking the line before
--              24 hours had passed, or at an unknown time. If it still asked by then and knew of no
--              arrival, the promise was not kept.
-- is_counted: kept or not_kept, and more than 24 hours have passed since due_at. It is the same
-- moment for all: otherwise ships that came on time would count at once and late ones a day later,
-- and the newest figures would be too good.
--
-- due_quarter_on: quarter of the local day of due_at at the port of discharge. Null if PostgreSQL
-- does not know the zone. Where a zone is missing the source sent local wall time marked as UTC:
-- then the error is right, and promised_at is off by the offset of the zone.
-- The arrival is reported hours later; a ship whose report takes more than a day after due_at
-- counts as not kept until then.

create view {{analytics}}.eta_promises as
with

horizons (horizon_days, ahead) as (

    values
        (2, interval '48 hours'),
        (7, interval '168 hours'),
        (14, interval '336 hours')

),

-- Of the ETAs that were so far ahead the earliest was the first.
promises as (

    select
        version.shipment_id,
        horizons.horizon_days,
        min(version.pod_eta_at) as due_at,
        min(version.pod_eta_at - horizons.ahead) as promised_at
    from {{data}}.shipment_history as version
    inner join horizons
        on version.pod_eta_at - horizons.ahead >= version.valid_from
        and coalesce(version.pod_eta_at - horizons.ahead < version.valid_to, true)
        and coalesce(version.pod_eta_at - horizons.ahead < version.pod_ata_at, true)
    where version.pod_eta_at - horizons.ahead <= {{analytics}}.as_of()
    group by version.shipment_id, horizons.horizon_days

),

-- The ship is there, and the arrival of the shipment is not reported.
unreported as (

    select distinct journey.shipment_id
    from {{parts}}.journey_facts as journey
    where journey.has_vessel_arrived
        and coalesce(journey.shipment_arrived_at > {{analytics}}.as_of(), true)

),

judged as (

    select
        promise.shipment_id,
        promise.horizon_days,
        shipment.bill_of_lading_number,
        shipment.shipping_line_scac,
        shipment.port_of_discharge_locode,
        shipment.line_tracking_stopped_reason,
        date_trunc('quarter', promise.due_at at time zone arrival.wall_zone)::date
            as due_quarter_on,
        case
            when arrival.arrived_at between promise.due_at - interval '24 hours'
                and promise.due_at + interval '24 hours' then 'kept'
            when arrival.arrived_at is not null then 'not_kept'
            when unreported.shipment_id is not null then 'unknown'
            when arrival.watched_until > promise.due_at + interval '24 hours' then 'not_kept'
            when shipment.is_tracking_stopped then 'unknown'
            else 'undecided'
        end as outcome,
        arrival.arrived_at is not null as has_arrived,
        date_part(
            'epoch', coalesce(arrival.arrived_at, arrival.watched_until) - promise.due_at
        ) / 3600 as error_hours,
        promise.promised_at,
        promise.due_at,
        arrival.arrived_at
    from promises as promise
    inner join {{parts}}.known_shipments as shipment
        on shipment.shipment_id = promise.shipment_id
    left join {{analytics}}.time_zones as zone
        on zone.name = shipment.pod_timezone
    left join unreported
        on unreported.shipment_id = promise.shipment_id
    cross join lateral (

        select
            case when shipment.pod_timezone is null then 'UTC' else zone.name end as wall_zone,
            case when shipment.pod_ata_at <= {{analytics}}.as_of() then shipment.pod_ata_at end
                as arrived_at,
            case
                when not shipment.is_tracking_stopped then {{analytics}}.as_of()
                when shipment.line_tracking_stopped_at <= {{analytics}}.as_of()
                    then shipment.line_tracking_stopped_at
            end as watched_until

    ) as arrival
    where coalesce(arrival.arrived_at > promise.promised_at, true)

)

select
    shipment_id,
    horizon_days,
    bill_of_lading_number,
    shipping_line_scac,
    port_of_discharge_locode,
    case when not has_arrived then line_tracking_stopped_reason end as tracking_stopped_reason,
    due_quarter_on,
    outcome,
    has_arrived,
    outcome in ('kept', 'not_kept') and due_at < {{analytics}}.as_of() - interval '24 hours'
        as is_counted,
    case when outcome in ('kept', 'not_kept') then error_hours end as error_hours,
    promised_at,
    due_at,
    arrived_at
from judged;
