-- Customer, references, tags and custom fields of each container
--
-- One row per container, tombstoned ones included, with the present values, also in the schema of
-- questions as of an instant: a question about a customer's containers means today's customer, and
-- custom fields are stored without history. Every view with containers shows these columns.
--
-- customer_name and tags are the shipment's; references are of both. A text beside a list has the
-- same values, for tools that cannot read lists: separated by ", ", the container's references
-- before the shipment's, null for an empty list.
-- custom_fields: by slug, the displayed value, else the stored value; if container and shipment
-- have the same field, the container's. Null: none.
--
-- Cost: one look into custom_fields for each container, only where they are asked for.

create view {{analytics}}.container_customers as
select
    container.container_id,
    shipment.customer_name,
    container.ref_numbers as container_ref_numbers,
    shipment.ref_numbers as shipment_ref_numbers,
    nullif(array_to_string(container.ref_numbers || shipment.ref_numbers, ', '), '')
        as ref_numbers_text,
    shipment.tags,
    nullif(array_to_string(shipment.tags, ', '), '') as tags_text,
    (
        select
            jsonb_object_agg(
                field.api_slug,
                coalesce(to_jsonb(field.display_value), field.value)
                order by field.entity_id = container.container_id
            )
        from {{data}}.custom_fields as field
        where field.entity_id in (container.container_id, container.shipment_id)
            and field.api_slug is not null
            and field._deleted_at is null
    ) as custom_fields
from {{data}}.containers as container
left join {{data}}.shipments as shipment
    on shipment.shipment_id = container.shipment_id;
