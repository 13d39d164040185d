-- How often ships arrive when first promised

select
    arrival_month_on,
    shipping_line_scac,
    shipping_line_name,
    port_of_lading_locode,
    port_of_discharge_locode,
    n,
    on_time,
    early,
    late,
    not_measured,
    on_time_share,
    mean_delay_of_late_days,
    mean_delay_days
from {{analytics}}.schedule_reliability
where (
        :line::text is null
        or shipping_line_scac = upper(:line::text)
        or lower(shipping_line_name) = lower(:line::text)
    )
    and (:port::text is null or port_of_discharge_locode = upper(:port::text))
    and (:since::text is null or arrival_month_on >= :since::text::date)
    and (:until::text is null or arrival_month_on < :until::text::date)
order by arrival_month_on desc, n desc, shipping_line_scac, port_of_lading_locode, port_of_discharge_locode
limit :limit::text::bigint
