-- list custom fields with options

select id, bool_or(has_options) as "hasOptions"
from (
    select custom_field_definition_id as id, true as has_options
    from "tracking"."custom_field_definitions"
    where data_type in ('enum', 'enum_multi') and _deleted_at is null
    union all
    select definition_id, false
    from "tracking"."custom_field_options"
    where definition_id is not null and _deleted_at is null
) as owner
group by id
order by id;
