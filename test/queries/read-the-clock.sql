-- read the clock

select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now;
