-- Days at sea

select
    arrival_month_on,
    port_of_lading_locode,
    port_of_discharge_locode,
    shipping_line_scac,
    shipping_line_name,
    n,
    not_measured,
    mean_days,
    p10_days,
    median_days,
    p90_days,
    zone_unknown
from {{analytics}}.transit_times
where (
        :line::text is null
        or shipping_line_scac = upper(:line::text)
        or lower(shipping_line_name) = lower(:line::text)
    )
    and (:port::text is null or port_of_discharge_locode = upper(:port::text))
    and (:since::text is null or arrival_month_on >= :since::text::date)
    and (:until::text is null or arrival_month_on < :until::text::date)
order by arrival_month_on desc, n desc, port_of_lading_locode, port_of_discharge_locode, shipping_line_scac
limit :limit::text::bigint
