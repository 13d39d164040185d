-- How fees moved

select
    container_number,
    pod_terminal,
    shipping_line_scac,
    fee_type,
    amount_before,
    amount,
    change_amount,
    currency_code,
    is_total,
    seen_local,
    gone_local,
    is_open,
    is_start_known,
    source,
    bill_of_lading_number,
    container_id
from {{analytics}}.fee_history
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
    and (:since::text is null or seen_at >= :since::text::timestamptz)
    and (:until::text is null or seen_at < :until::text::timestamptz)
order by container_id, fee_key, seen_at
limit :limit::text::bigint
