-- What overdue containers cost

select
    container_number,
    pod_terminal,
    shipping_line_scac,
    state,
    days_over,
    last_free_on,
    fee_amount,
    fee_currency_code,
    fees_by_currency,
    estimate_amount,
    estimate_currency_code,
    days_without_rate,
    out_on,
    ruling_source,
    tracking_stopped_reason,
    bill_of_lading_number,
    container_id
from {{analytics}}.demurrage_exposure
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
order by tracking_stopped_reason is not null, out_on is not null, days_over desc nulls last, container_id
limit :limit::text::bigint
