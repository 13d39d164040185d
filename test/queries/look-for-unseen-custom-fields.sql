-- look for unseen custom_fields

select "custom_field_id" as key, _observed_at <= $1::timestamptz as is_settled
from "tracking"."custom_fields"
where "custom_field_id" > $2 and _deleted_at is null
order by "custom_field_id"
limit $3;
