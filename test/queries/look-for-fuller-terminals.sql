-- look for fuller terminals

select incoming.place::integer as place
from unnest($1::text[],
    $2::text[]) with ordinality as incoming (key, unmapped, place)
inner join "tracking"."terminals" as stored
    on stored."terminal_id" = incoming.key
where (coalesce(stored._unmapped, '{}')
    - array(select jsonb_object_keys(coalesce(incoming.unmapped::jsonb, '{}'))) != '{}');
