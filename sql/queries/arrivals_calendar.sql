-- What arrives where in the next 30 days

select
    arrival_on,
    port_of_discharge_locode,
    port_of_discharge_name,
    shipping_line_scac,
    shipping_line_name,
    shipments,
    containers,
    teu,
    length_unknown,
    tracking_stopped,
    zone_unknown
from {{analytics}}.arrivals_calendar
where (:port::text is null or port_of_discharge_locode = upper(:port::text))
    and (
        :line::text is null
        or shipping_line_scac = upper(:line::text)
        or lower(shipping_line_name) = lower(:line::text)
    )
    and (:since::text is null or arrival_on >= :since::text::date)
    and (:until::text is null or arrival_on < :until::text::date)
order by arrival_on, port_of_discharge_locode, shipping_line_scac
limit :limit::text::bigint
