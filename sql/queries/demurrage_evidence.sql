-- What was known when, to dispute an invoice

select
    container_number,
    seen_local,
    gone_local,
    kind,
    subject,
    value,
    amount,
    currency_code,
    source,
    is_open,
    is_start_known,
    last_free_on,
    pod_discharged_local,
    pod_full_out_local,
    pod_terminal,
    shipping_line_scac,
    bill_of_lading_number,
    container_id
from {{analytics}}.demurrage_evidence
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
order by container_id, seen_at, kind, subject
limit :limit::text::bigint
