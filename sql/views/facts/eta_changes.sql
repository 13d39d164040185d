-- How the ETA moved
--
-- One row per shipment and change of the ETA at its port of discharge, as we saw it.
--
-- A change lies between two versions of the shipment, the one ending where the other begins, whose
-- ETA differs. The first ETA is not a change; an ETA taken back is (kind withdrawn), and so is one
-- given again after that (kind given again): neither has a slip.
-- Between two looks the ETA may have changed more than once; changes that we did not see are
-- missing. Versions before and after a time in which the shipment was gone at the source are not
-- compared. is_voyage_changed compares as carrier_scorecards and attention do: vessels by IMO
-- number, by name where one of the two lacks it; voyages without leading zeros, spaces and case. A
-- vessel or voyage that was unknown before, or is unknown now, does not count as another one.

create view {{analytics}}.eta_changes as
select
    shipment.shipment_id,
    shipment.bill_of_lading_number,
    shipment.shipping_line_scac,
    shipment.port_of_lading_locode,
    shipment.port_of_discharge_locode,
    case
        when later.pod_eta_at is null then 'withdrawn'
        when earlier.pod_eta_at is null then 'given again'
        else 'moved'
    end as kind,
    later.source,
    -- date_part and not extract: the same seconds, in double precision, at a fraction of the cost.
    round(
        (date_part('epoch', later.pod_eta_at - earlier.pod_eta_at) / 3600)::numeric, 2
    ) as slip_hours,
    zone.name is not null as is_zone_known,
    {{analytics}}.is_other_voyage(
        earlier.pod_vessel_imo,
        earlier.pod_vessel_name,
        earlier.pod_voyage_number,
        later.pod_vessel_imo,
        later.pod_vessel_name,
        later.pod_voyage_number
    ) as is_voyage_changed,
    later.valid_from as changed_at,
    earlier.pod_eta_at as from_eta_at,
    later.pod_eta_at as to_eta_at,
    earlier.pod_eta_at at time zone
        coalesce(zone.name, case when later.pod_timezone is null then 'UTC' end) as from_eta_local,
    later.pod_eta_at at time zone
        coalesce(zone.name, case when later.pod_timezone is null then 'UTC' end) as to_eta_local
from {{data}}.shipment_history as later
-- Equal, said as a range: of two equalities PostgreSQL expects ten rows in all where a million and
-- a half come, and reads shipments and zones one by one for them.
inner join {{data}}.shipment_history as earlier
    on earlier.shipment_id = later.shipment_id
    and later.valid_from between earlier.valid_to and earlier.valid_to
inner join {{parts}}.known_shipments as shipment
    on shipment.shipment_id = later.shipment_id
left join {{analytics}}.time_zones as zone
    on zone.name = later.pod_timezone
-- The versions that had lost their ETA, few of all, each at most once. Joined: a condition with a
-- query of its own keeps PostgreSQL to one process.
left join (

    select
        version.shipment_id,
        version.valid_from
    from {{data}}.shipment_history as version
    where version.pod_eta_at is null
        and exists (
            select
            from {{data}}.shipment_history as before
            where before.shipment_id = version.shipment_id
                and before.valid_from < version.valid_from
                and before.pod_eta_at is not null
        )

) as gap
    on gap.shipment_id = earlier.shipment_id
    and gap.valid_from = earlier.valid_from
where later.valid_from <= {{analytics}}.as_of()
    and later.pod_eta_at is distinct from earlier.pod_eta_at
    and (earlier.pod_eta_at is not null or gap.shipment_id is not null);
