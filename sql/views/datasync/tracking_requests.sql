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

comment on view {{datasync}}.tracking_requests is
    'One row per live tracking request, as in the table tracking_requests of the service''s own '
    'export. Key: tracking_request_id.';
comment on column {{datasync}}.tracking_requests.tracking_request_id is
    'The service''s id of the tracking request.';
comment on column {{datasync}}.tracking_requests.request_number is
    'Number that was asked for.';
comment on column {{datasync}}.tracking_requests.reference_numbers is
    'Reference numbers, joined by comma and blank; null when there is none.';
comment on column {{datasync}}.tracking_requests.shipment_tags is
    'Tags for the shipment in the order of the alphabet, joined by comma and blank; null when '
    'there is none.';
comment on column {{datasync}}.tracking_requests.status is
    'State of the request.';
comment on column {{datasync}}.tracking_requests.failed_reason is
    'Why it failed; null when it did not.';
comment on column {{datasync}}.tracking_requests.request_type is
    'What kind of number it is, for example bill_of_lading.';
comment on column {{datasync}}.tracking_requests.scac is
    'SCAC of the shipping line that was asked.';
comment on column {{datasync}}.tracking_requests.shipment_id is
    'Shipment it became; null while it did not.';
comment on column {{datasync}}.tracking_requests.created_at is
    'When it was made. UTC.';
comment on column {{datasync}}.tracking_requests.updated_at is
    'When it last changed, as the service says; where it does not, when the source can have known '
    'the last material change (_changed_at). UTC.';
