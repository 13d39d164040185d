-- Milestones of each journey

select
    container_number,
    bill_of_lading_number,
    shipping_line_scac,
    port_of_lading_locode,
    port_of_discharge_locode,
    destination_locode,
    current_status,
    empty_out_local,
    full_in_local,
    pol_loaded_local,
    pol_departed_local,
    pod_eta_local,
    pod_arrived_local,
    pod_berthed_local,
    pod_discharged_local,
    pickup_appointment_local,
    pod_full_out_local,
    pod_rail_loaded_local,
    pod_rail_departed_local,
    ind_eta_local,
    ind_arrived_local,
    ind_rail_unloaded_local,
    final_destination_full_out_local,
    delivered_local,
    empty_terminated_local,
    container_id
from {{analytics}}.container_milestones
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
        or lower(shipping_line_name) = lower(:line::text)
    )
    and (:port::text is null or port_of_discharge_locode = upper(:port::text))
    and (:since::text is null or pod_arrived_at >= :since::text::timestamptz)
    and (:until::text is null or pod_arrived_at < :until::text::timestamptz)
order by pod_arrived_at desc nulls last, container_id
limit :limit::text::bigint
