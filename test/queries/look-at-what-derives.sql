-- look at what derives

select md5(string_agg(proname || prosrc, '' order by proname)) as hash
from pg_proc
inner join pg_namespace
    on pg_namespace.oid = pronamespace
where nspname = $1 and proname <> 'ask_for_request';
