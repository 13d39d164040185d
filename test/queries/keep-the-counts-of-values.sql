-- keep the counts of values

insert into "tracking_sync"."pass_shares" (table_name, column_name, records, filled)
select * from unnest(
    $1::text[],
    $2::text[],
    $3::bigint[],
    $4::bigint[]
);
