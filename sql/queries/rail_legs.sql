-- Where the time goes on the rails

select
    container_number,
    shipping_line_scac,
    port_of_discharge_locode,
    destination_locode,
    stage,
    hours_in_stage,
    discharged_to_loaded_hours,
    loaded_to_departed_hours,
    departed_to_arrived_hours,
    arrived_to_unloaded_hours,
    unloaded_to_picked_up_hours,
    discharged_to_picked_up_hours,
    pod_rail_carrier_scac,
    ind_rail_carrier_scac,
    is_in_order,
    bill_of_lading_number,
    container_id
from {{analytics}}.rail_legs
where (:container::text is null or :container::text in (container_id, container_number))
    and (:shipment::text is null or :shipment::text in (shipment_id, bill_of_lading_number))
    and (
        :terminal::text is null
        or pod_terminal_id in (
            select terminal_id
            from {{data}}.terminals
            where :terminal::text in (terminal_id, firms_code)
                or lower(:terminal::text) in (lower(nickname), lower(name))
        )
    )
    and (
        :line::text is null
        or shipping_line_scac = upper(:line::text)
        or shipping_line_scac in (
            select shipping_line_scac
            from {{data}}.shipments
            where lower(shipping_line_name) = lower(:line::text)
        )
    )
    and (:port::text is null or port_of_discharge_locode = upper(:port::text))
    and (:since::text is null or pod_discharged_at >= :since::text::timestamptz)
    and (:until::text is null or pod_discharged_at < :until::text::timestamptz)
order by stage, hours_in_stage desc nulls last, container_id
limit :limit::text::bigint
