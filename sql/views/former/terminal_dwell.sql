-- How long containers stay at the terminal
--
-- One row per terminal at the port of discharge, local week of discharge, and mode (truck, rail).
--
-- Dwell: discharge to gate-out (truck) or to the departure of the train (rail), elapsed days of 24
-- hours.
-- mode: how it left, by the earlier of the two if both are reported. For a container that has not
-- left: rail if a rail carrier is named or it is loaded on a train, else truck. An instant after
-- as_of() has not happened.
-- Containers that have not left are in no mean, median or share; they are counted separately with
-- their age. After tracking has stopped, a departure may not be reported, so such containers are
-- counted without their age. A week with many containers still there looks faster than it will in
-- the end.
-- not_measured: left at an unknown time (picked up inland or returned empty without a departure
-- from the port), or before it was discharged. A container without a terminal counts under the port
-- of its shipment, terminal null.

create view {{analytics}}.terminal_dwell as
with

stays as (

    select
        container.pod_terminal_id as terminal_id,
        case
            when container.pod_terminal_id is null then shipment.port_of_discharge_locode
        end as shipment_port_locode,
        case
            when container.pod_rail_departed_at < container.pod_full_out_at then 'rail'
            when container.pod_full_out_at is not null then 'truck'
            when container.pod_rail_departed_at is not null
                or container.pod_rail_loaded_at is not null
                or container.pod_rail_carrier_scac is not null then 'rail'
            else 'truck'
        end as mode,
        date_trunc('week', container.pod_discharged_at at time zone
            coalesce(zone.name, case when container.pod_timezone is null then 'UTC' end)
        )::date as discharge_week_on,
        case
            when least(container.pod_full_out_at, container.pod_rail_departed_at)
                <= {{analytics}}.as_of()
                then least(container.pod_full_out_at, container.pod_rail_departed_at)
                    - container.pod_discharged_at
        end as dwell,
        (
            least(
                container.pod_full_out_at,
                container.pod_rail_departed_at,
                container.ind_ata_at,
                container.ind_rail_unloaded_at,
                container.final_destination_full_out_at,
                container.empty_terminated_at
            ) <= {{analytics}}.as_of()
        ) is not true as is_there,
        coalesce(shipment.is_tracking_stopped, false) as is_tracking_stopped,
        {{analytics}}.as_of() - container.pod_discharged_at as age,
        zone.name is not null as is_zone_known
    from {{analytics}}.known_containers as container
    left join {{analytics}}.known_shipments as shipment
        on shipment.shipment_id = container.shipment_id
    left join {{analytics}}.time_zones as zone
        on zone.name = container.pod_timezone
    where container.pod_discharged_at <= {{analytics}}.as_of()

),

-- Kept as intervals, all of them elapsed time: making numbers of them costs, and so it is done to
-- the figures only.
dwells as (

    select
        terminal_id,
        shipment_port_locode,
        mode,
        discharge_week_on,
        count(*) filter (where dwell >= interval '0') as n,
        avg(dwell) filter (where dwell >= interval '0') as mean_dwell,
        percentile_cont(0.5) within group (order by dwell)
            filter (where dwell >= interval '0') as median_dwell,
        percentile_cont(0.9) within group (order by dwell)
            filter (where dwell >= interval '0') as p90_dwell,
        count(*) filter (where dwell > interval '5 days') as over_5_days,
        count(*) filter (where is_there) as still_there,
        count(*) filter (where is_there and is_tracking_stopped) as still_there_not_tracked,
        avg(age) filter (where is_there and not is_tracking_stopped) as mean_age,
        max(age) filter (where is_there and not is_tracking_stopped) as max_age,
        count(*) filter (where not is_there and (dwell is null or dwell < interval '0'))
            as not_measured,
        count(*) filter (where not is_zone_known) as zone_unknown
    from stays
    group by terminal_id, shipment_port_locode, mode, discharge_week_on

)

select
    dwell.terminal_id,
    coalesce(terminal.nickname, terminal.name) as terminal_name,
    coalesce(dwell.shipment_port_locode, port.code) as port_locode,
    dwell.mode,
    dwell.discharge_week_on,
    dwell.n,
    round(extract(epoch from dwell.mean_dwell) / 86400, 2) as mean_days,
    round(extract(epoch from dwell.median_dwell) / 86400, 2) as median_days,
    round(extract(epoch from dwell.p90_dwell) / 86400, 2) as p90_days,
    round(dwell.over_5_days::numeric / nullif(dwell.n, 0), 4) as over_5_days_share,
    dwell.still_there,
    dwell.still_there_not_tracked,
    round(extract(epoch from dwell.mean_age) / 86400, 2) as still_there_mean_age_days,
    round(extract(epoch from dwell.max_age) / 86400, 2) as still_there_max_age_days,
    dwell.not_measured,
    dwell.zone_unknown
from dwells as dwell
left join {{data}}.terminals as terminal
    on terminal.terminal_id = dwell.terminal_id
left join {{data}}.ports as port
    on port.port_id = terminal.port_id;
