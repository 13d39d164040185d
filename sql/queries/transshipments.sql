-- Where containers changed ships

select
    container_number,
    shipping_line_scac,
    location_locode,
    location_name,
    arrived_local,
    discharged_local,
    loaded_local,
    departed_local,
    dwell_hours,
    hours_so_far,
    is_waiting,
    vessel_in_name,
    vessel_out_name,
    is_tracking_stopped,
    container_id
from {{analytics}}.transshipments
where (:container::text is null or :container::text in (container_id, container_number))
    and (
        :line::text is null
        or shipping_line_scac = upper(:line::text)
        or shipping_line_scac in (
            select shipping_line_scac
            from {{data}}.shipments
            where lower(shipping_line_name) = lower(:line::text)
        )
    )
    and (:since::text is null or arrived_at >= :since::text::timestamptz)
    and (:until::text is null or arrived_at < :until::text::timestamptz)
order by is_waiting desc, arrived_at desc nulls last, container_id, location_locode
limit :limit::text::bigint
