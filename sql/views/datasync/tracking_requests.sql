-- Tracking requests, as in the service's own export
--
-- One row per tracking request that is not tombstoned, as it is now: names, order and types of the
-- columns are those of the table
-- `tracking_requests` of the service's own commercial export to warehouses. timestamp columns are
-- UTC.

create view {{datasync}}.tracking_requests as
select
    requests.tracking_request_id,
    requests.request_number,
    nullif(array_to_string(requests.ref_numbers, ', '), '') as reference_numbers,
    case
        when cardinality(requests.shipment_tags) > 0 then (
            select nullif(string_agg(tag, ', ' order by tag collate "C"), '')
            from unnest(requests.shipment_tags) as tag
        )
    end as shipment_tags,
    requests.status,
    requests.failed_reason,
    requests.request_type,
    requests.scac,
    case
        when requests.tracked_object_type = 'shipment' then requests.tracked_object_id
    end as shipment_id,
    requests.created_at at time zone 'UTC' as created_at,
    coalesce(requests.updated_at, requests._changed_at) at time zone 'UTC' as updated_at
from {{data}}.tracking_requests as requests
where requests._deleted_at is null;
