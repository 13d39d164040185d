-- How long four in five of the finished stays lasted, at the place of a container without a last
-- free day.
--
-- Of `sought`, which the view names: terminal_id and mode of a stay at the port, locode of a stay
-- at the ramp, and is_sought, false if the stay has a day. At the port it counts stays at the same
-- terminal that ended in the same way, by truck or by rail; at the ramp stays with the same
-- destination. Null if none has ended. It depends on these alone, so that PostgreSQL computes it
-- once for each of them.
select percentile_cont(0.8) within group (order by finished.lasted) as usual
from (
    select other.left_port_at - other.discharged_at as lasted
    from {{parts}}.known_milestones as other
    where sought.is_sought
        and other.pod_terminal_id = sought.terminal_id
        and case when other.left_port_at = other.full_out_at then 'truck' else 'rail' end
            = sought.mode

    union all

    select other.ramp_out_at - other.ramp_arrived_at as lasted
    from {{parts}}.known_shipments as shipment
    cross join lateral (
        select
            own.ramp_out_at,
            own.ramp_arrived_at
        from {{parts}}.known_milestones as own
        where own.shipment_id = shipment.shipment_id
            -- By the containers it has now: no index finds versions of containers by shipment.
            and own.container_id = any (
                array(
                    select container.container_id
                    from {{data}}.containers as container
                    where container.shipment_id = shipment.shipment_id
                )
            )
        offset 0
    ) as other
    where sought.is_sought
        and shipment.destination_locode = sought.locode
) as finished
where finished.lasted >= interval '0'
