-- Calendar
--
-- One row per day from two years before as_of() to one year after it: for reports that need each
-- day, also one without a row elsewhere. Weeks begin on Monday (ISO 8601).

create view {{analytics}}.days as
select
    day.at::date as day_on,
    date_trunc('week', day.at)::date as week_on,
    date_trunc('month', day.at)::date as month_on,
    date_trunc('quarter', day.at)::date as quarter_on,
    extract(year from day.at)::integer as year,
    extract(isodow from day.at)::integer as weekday,
    to_char(day.at, 'IYYY-"W"IW') as week_name
from generate_series(
    date_trunc('day', {{analytics}}.as_of() at time zone 'UTC') - interval '2 years',
    date_trunc('day', {{analytics}}.as_of() at time zone 'UTC') + interval '1 year',
    interval '1 day'
) as day (at);
