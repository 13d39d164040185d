-- How long holds stood

select
    container_number,
    pod_terminal,
    shipping_line_scac,
    hold_name,
    status,
    description,
    hours,
    placed_local,
    cleared_local,
    is_open,
    is_start_known,
    source,
    bill_of_lading_number,
    container_id
from {{analytics}}.hold_durations
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
    and (:since::text is null or placed_at >= :since::text::timestamptz)
    and (:until::text is null or placed_at < :until::text::timestamptz)
order by is_open desc, hours desc nulls last, container_id, hold_key
limit :limit::text::bigint
