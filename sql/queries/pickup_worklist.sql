-- Which container must be picked up first

select
    container_number,
    pod_terminal,
    place,
    shipping_line_scac,
    is_ready,
    days_left,
    last_free_on,
    blockers,
    other_holds,
    pickup_appointment_local,
    landed_local,
    current_status,
    tracking_stopped_reason,
    bill_of_lading_number,
    container_id
from {{analytics}}.pickup_worklist
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
    and (:since::text is null or last_free_on >= :since::text::date)
    and (:until::text is null or last_free_on < :until::text::date)
order by tracking_stopped_reason is not null, days_left nulls last, landed_at, container_id
limit :limit::text::bigint
