-- How good the ETA was, days ahead

select
    shipping_line_scac,
    shipping_line_name,
    horizon,
    horizon_from_days,
    n,
    shipments,
    mean_absolute_error_hours,
    bias_hours,
    within_24_hours_share
from {{analytics}}.eta_accuracy
where (
        :line::text is null
        or shipping_line_scac = upper(:line::text)
        or lower(shipping_line_name) = lower(:line::text)
    )
order by shipping_line_scac, horizon_from_days
limit :limit::text::bigint
