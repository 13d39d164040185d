-- ask for the time

select now()::text as now, (now() + interval '1 minute')::text as latest;
