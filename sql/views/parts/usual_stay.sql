-- How long four in five of the finished stays lasted, at the place of a container without a last
-- free day.
--
-- Of `sought`, which the view names: terminal_id of a stay at the port, locode of a stay at the
-- ramp, both null if it has a day. At the port it counts stays at the same terminal, by truck and
-- by rail; at the ramp stays with the same destination. Null if none has ended. It depends on these
-- two alone, so that PostgreSQL computes it once for each terminal and destination.
select percentile_cont(0.8) within group (order by finished.lasted) as usual
from (
    select
        least(other.pod_full_out_at, other.pod_rail_departed_at) - other.pod_discharged_at
            as lasted
    from {{analytics}}.known_containers as other
    where other.pod_terminal_id = sought.terminal_id
        and least(other.pod_full_out_at, other.pod_rail_departed_at) <= {{analytics}}.as_of()

    union all

    select
        other.final_destination_full_out_at - least(other.ind_ata_at, other.ind_rail_unloaded_at)
            as lasted
    from {{analytics}}.known_shipments as shipment
    inner join {{analytics}}.known_containers as other
        on other.shipment_id = shipment.shipment_id
    where shipment.destination_locode = sought.locode
        and other.final_destination_full_out_at <= {{analytics}}.as_of()
) as finished
where finished.lasted >= interval '0'
