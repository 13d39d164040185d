-- How long containers stay at the terminal

select
    terminal_name,
    port_locode,
    mode,
    discharge_week_on,
    n,
    mean_days,
    median_days,
    p90_days,
    over_5_days_share,
    still_there,
    still_there_not_tracked,
    still_there_mean_age_days,
    still_there_max_age_days,
    not_measured,
    zone_unknown,
    terminal_id
from {{analytics}}.terminal_dwell
where (
        :terminal::text is null
        or terminal_id in (
            select terminal_id
            from {{data}}.terminals
            where :terminal::text in (terminal_id, firms_code)
                or lower(:terminal::text) in (lower(nickname), lower(name))
        )
    )
    and (:port::text is null or port_locode = upper(:port::text))
    and (:since::text is null or discharge_week_on >= :since::text::date)
    and (:until::text is null or discharge_week_on < :until::text::date)
order by discharge_week_on desc, terminal_name, mode
limit :limit::text::bigint
