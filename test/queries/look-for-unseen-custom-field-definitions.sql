-- look for unseen custom_field_definitions

select "custom_field_definition_id" as key, _observed_at <= $1::timestamptz as is_settled
from "tracking"."custom_field_definitions"
where "custom_field_definition_id" > $2 and _deleted_at is null
order by "custom_field_definition_id"
limit $3;
