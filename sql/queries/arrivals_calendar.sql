-- What arrives where in the next 30 days
--
-- One row per port of discharge, shipping line and local day of the estimated arrival, for shipments that have not arrived.
--
-- containers: containers of those shipments.
-- teu: 20 ft = 1, 40 ft = 2, 45 ft = 2.25, 10 ft = 0.5; containers of unknown length are counted apart.
-- arrival_day: the day at the port. A zone that PostgreSQL does not know counts as UTC.
with

time_zones as materialized (

    select name, utc_offset
    from pg_catalog.pg_timezone_names

),

shipments as (

    select
        shipments.shipment_id,
        shipments.port_of_discharge_locode,
        shipments.port_of_discharge_name,
        shipments.shipping_line_scac,
        -- The offset is today's: around a change of clocks an arrival near midnight can fall on the day beside.
        (shipments.pod_eta_at at time zone 'UTC'
            + coalesce(time_zones.utc_offset, interval '0'))::date as arrival_day,
        (now() at time zone 'UTC' + coalesce(time_zones.utc_offset, interval '0'))::date as today
    from {{data}}.shipments as shipments
    left join time_zones
        on time_zones.name = shipments.pod_timezone
    where shipments.pod_ata_at is null
        and shipments.pod_eta_at is not null
        and shipments._deleted_at is null

),

containers as (

    select
        shipment_id,
        case equipment_length
            when 10 then 0.5
            when 20 then 1
            when 40 then 2
            when 45 then 2.25
        end as teu
    from {{data}}.containers
    where _deleted_at is null

)

select
    shipments.arrival_day,
    shipments.port_of_discharge_locode as port,
    shipments.port_of_discharge_name as port_name,
    shipments.shipping_line_scac as line,
    count(*) as containers,
    sum(containers.teu) as teu,
    count(*) filter (where containers.teu is null) as unknown_length
from shipments
inner join containers
    on shipments.shipment_id = containers.shipment_id
where shipments.arrival_day between shipments.today and shipments.today + 30
group by
    shipments.arrival_day,
    shipments.port_of_discharge_locode,
    shipments.port_of_discharge_name,
    shipments.shipping_line_scac
order by shipments.arrival_day, port, line;
