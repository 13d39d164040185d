-- How the ETA moved

select
    bill_of_lading_number,
    shipping_line_scac,
    port_of_lading_locode,
    port_of_discharge_locode,
    changed_at,
    from_eta_local,
    to_eta_local,
    slip_hours,
    kind,
    source,
    is_voyage_changed,
    shipment_id
from {{analytics}}.eta_changes
where (:shipment::text is null or :shipment::text in (shipment_id, bill_of_lading_number))
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
    and (:since::text is null or changed_at >= :since::text::timestamptz)
    and (:until::text is null or changed_at < :until::text::timestamptz)
order by changed_at desc, shipment_id
limit :limit::text::bigint
