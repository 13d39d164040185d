-- How long four in five of the finished stays lasted where a container stands without a last free
-- day.
--
-- Of `stay`, which the view names: state, place, pod_terminal_id, place_locode. At the port those at
-- its terminal, by truck and by rail; at the ramp those of the same destination. Null where the stay
-- has a day, and where none has ended. Sought once for each terminal and destination.
select percentile_cont(0.8) within group (order by finished.lasted) as usual
from (
    select
        least(other.pod_full_out_at, other.pod_rail_departed_at) - other.pod_discharged_at
            as lasted
    from {{analytics}}.known_containers as other
    where stay.state = 'none'
        and stay.place = 'port'
        and other.pod_terminal_id = stay.pod_terminal_id
        and least(other.pod_full_out_at, other.pod_rail_departed_at) <= {{analytics}}.as_of()

    union all

    select
        other.final_destination_full_out_at - least(other.ind_ata_at, other.ind_rail_unloaded_at)
            as lasted
    from {{analytics}}.known_shipments as shipment
    inner join {{analytics}}.known_containers as other
        on other.shipment_id = shipment.shipment_id
    where stay.state = 'none'
        and stay.place = 'ramp'
        and shipment.destination_locode = stay.place_locode
        and other.final_destination_full_out_at <= {{analytics}}.as_of()
) as finished
where finished.lasted >= interval '0'
