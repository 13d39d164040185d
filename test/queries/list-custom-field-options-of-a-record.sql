-- list custom_field_options of a record

select "custom_field_option_id" as key
from "tracking"."custom_field_options"
where "definition_id" = $1 and _deleted_at is null;
