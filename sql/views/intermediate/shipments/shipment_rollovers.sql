-- Rollovers at sea
--
-- One row per shipment that has arrived at its port of discharge, as known at as_of(): whether its
-- vessel or voyage changed between departure and arrival in what we saw. The base of
-- rollover_free_share in carriers, by the definition of carrier_scorecards.
--
-- departed_at: the actual departure from the port of lading, else the estimated one. A change
-- before it is a new plan, and one seen after the arrival is bookkeeping; neither counts.
-- is_watched: we saw the shipment by its departure. The others may have changed before our first
-- sight; their is_rollover_free is null.
-- Vessel: the one at the port of discharge, by its IMO number, or by its name where a version lacks
-- the number, so that a number that is filled in later does not count. Voyages are compared without
-- leading zeros, spaces and case. The vessel belongs to the shipment: all its containers roll
-- together.
--
-- Cost: the view reads the histories of the arrived shipments. Narrow it by shipment_id.

create view {{parts}}.shipment_rollovers as
with

-- Texts are only compared for equality, which collation "C" does byte by byte.
versions as (

    select
        arrival.shipment_id,
        arrival.departed_at,
        version.valid_from,
        version.pod_vessel_imo collate "C" as imo,
        upper(btrim(version.pod_vessel_name)) collate "C" as vessel_name,
        ltrim(upper(btrim(version.pod_voyage_number)), '0') collate "C" as voyage,
        version.valid_to is null or version.valid_to > arrival.departed_at as is_at_sea
    from (

        select
            shipment_id,
            pod_ata_at,
            coalesce(pol_atd_at, pol_etd_at) as departed_at
        from {{parts}}.shipment_arrivals

    ) as arrival
    left join {{data}}.shipment_history as version
        on version.shipment_id = arrival.shipment_id
        and version.valid_from < arrival.pod_ata_at
        and version.valid_from <= {{analytics}}.as_of()

),

changes as (

    select
        shipment_id,
        departed_at,
        coalesce(min(valid_from) <= departed_at, false) as is_watched,
        coalesce(
            min(imo) filter (where is_at_sea) <> max(imo) filter (where is_at_sea), false
        )
        or coalesce(
            bool_or(imo is null) filter (where is_at_sea)
            and min(vessel_name) filter (where is_at_sea)
                <> max(vessel_name) filter (where is_at_sea),
            false
        ) as is_vessel_changed,
        coalesce(
            min(voyage) filter (where is_at_sea) <> max(voyage) filter (where is_at_sea), false
        ) as is_voyage_changed
    from versions
    group by shipment_id, departed_at

)

select
    shipment_id,
    is_watched,
    is_vessel_changed,
    is_voyage_changed,
    case when is_watched then not is_vessel_changed and not is_voyage_changed end
        as is_rollover_free,
    departed_at
from changes;
