-- Last free days, and which source rules

select
    container_number,
    pod_terminal,
    shipping_line_scac,
    state,
    days_left,
    last_free_on,
    ruling_source,
    line_on,
    terminal_on,
    rail_on,
    today_on,
    out_on,
    current_status,
    bill_of_lading_number,
    container_id
from {{analytics}}.last_free_days
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
order by is_out, days_left nulls last, container_id
limit :limit::text::bigint
