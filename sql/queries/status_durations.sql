-- How long containers were in each status

select
    container_number,
    shipping_line_scac,
    status,
    hours,
    is_current,
    is_start_known,
    first_seen_at,
    ended_at,
    bill_of_lading_number,
    container_id
from {{analytics}}.status_durations
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
    and (:since::text is null or first_seen_at >= :since::text::timestamptz)
    and (:until::text is null or first_seen_at < :until::text::timestamptz)
order by container_id, first_seen_at
limit :limit::text::bigint
