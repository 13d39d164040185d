-- load the definitions of custom fields

select "custom_field_definition_id" as "id", "api_slug", "data_type", "sensitive" from "tracking"."custom_field_definitions" where "_deleted_at" is null;
