-- How the shipping lines did, quarter by quarter

select
    shipping_line_scac,
    shipping_line_name,
    arrival_quarter_on,
    arrivals,
    reliability_n,
    on_time_share,
    accuracy_n,
    eta_error_7_days_ahead_hours,
    transit_n,
    median_transit_days,
    rollover_n,
    rollover_free_share,
    lag_n,
    lag_median_hours,
    containers,
    completeness_n,
    milestone_completeness
from {{analytics}}.carrier_scorecards
where (
        :line::text is null
        or shipping_line_scac = upper(:line::text)
        or lower(shipping_line_name) = lower(:line::text)
    )
    and (:since::text is null or arrival_quarter_on >= :since::text::date)
    and (:until::text is null or arrival_quarter_on < :until::text::date)
order by arrival_quarter_on desc, arrivals desc, shipping_line_scac
limit :limit::text::bigint
