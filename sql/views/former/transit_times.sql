-- Days at sea
--
-- One row per cut, period and value of the cut.
--
-- cut, the common property of the shipments in a row:
--   lane             port of lading and port of discharge
--   lane and line    the shipping line as well
--   lane and vessel  the vessel that came to the port of discharge as well: its IMO number, or its
--                    name where it has none; before a transshipment it was another one
-- period, which shipments are in it:
--   month            shipments that arrived in the month arrival_month_on
--   last 90 days     shipments that arrived in the 90 times 24 hours before as_of()
-- Each cut counts every shipment again: add up, and compare, only rows of one cut and one period.
-- Columns that do not belong to the cut are null; the others are null if the value was not
-- reported.
--
-- From actual departure at the port of lading to actual arrival at the port of discharge, elapsed
-- days of 24 hours, with all transshipments in between. The unit is a shipment.
-- The month is that of the arrival: months of departure would look fast until their slow ships have
-- come in.
-- Shipments whose departure is missing, or not before the arrival, are counted separately. Where a
-- zone is missing the source sent local wall time marked as UTC; such a figure can be off by the
-- difference of the zones. Such figures are included, and counted.
-- is_single: the row counts one shipment only. The question leaves such rows out by default.

create view {{analytics}}.transit_times as
with

arrivals as (

    select
        period.period,
        arrival.port_of_lading_locode,
        arrival.port_of_discharge_locode,
        arrival.shipping_line_scac,
        coalesce(arrival.pod_vessel_imo, upper(btrim(arrival.pod_vessel_name))) as vessel,
        arrival.pod_vessel_imo,
        arrival.port_of_lading_name,
        arrival.port_of_discharge_name,
        arrival.shipping_line_name,
        arrival.pod_vessel_name,
        case when period.period = 'month' then arrival.arrival_month_on end as arrival_month_on,
        arrival.transit_days,
        arrival.is_transit_exact
    from {{parts}}.shipment_arrivals as arrival
    inner join (values ('month'), ('last 90 days')) as period (period)
        on period.period = 'month'
        or arrival.pod_ata_at >= {{analytics}}.as_of() - interval '2160 hours'

)

select
    case
        when grouping(shipping_line_scac) = 0 then 'lane and line'
        when grouping(vessel) = 0 then 'lane and vessel'
        else 'lane'
    end as cut,
    period,
    nullif(
        concat_ws(
            ' ',
            port_of_lading_locode || '-' || port_of_discharge_locode,
            shipping_line_scac,
            case when grouping(vessel) = 0
                then coalesce(min(pod_vessel_name), min(pod_vessel_imo))
            end
        ),
        ''
    ) as subject,
    port_of_lading_locode,
    port_of_discharge_locode,
    shipping_line_scac,
    case when grouping(vessel) = 0 then min(pod_vessel_imo) end as pod_vessel_imo,
    min(port_of_lading_name) as port_of_lading_name,
    min(port_of_discharge_name) as port_of_discharge_name,
    case when grouping(shipping_line_scac) = 0 then min(shipping_line_name) end
        as shipping_line_name,
    case when grouping(vessel) = 0 then min(pod_vessel_name) end as pod_vessel_name,
    arrival_month_on,
    count(transit_days) as n,
    count(*) filter (where transit_days is null) as not_measured,
    count(transit_days) filter (where not is_transit_exact) as zone_unknown,
    round(avg(transit_days), 2) as mean_days,
    round(percentile_cont(0.1) within group (order by transit_days)::numeric, 2) as p10_days,
    round(percentile_cont(0.5) within group (order by transit_days)::numeric, 2) as median_days,
    round(percentile_cont(0.9) within group (order by transit_days)::numeric, 2) as p90_days,
    count(transit_days) = 1 as is_single
from arrivals
group by
    period,
    port_of_lading_locode,
    port_of_discharge_locode,
    arrival_month_on,
    grouping sets ((), (shipping_line_scac), (vessel));
