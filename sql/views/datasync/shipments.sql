-- Shipments, as in the service's own export
--
-- One row per shipment that is not tombstoned, as it is now: names, order and types of the columns
-- are those of the table `shipments` of the service's own commercial export to warehouses.
-- timestamp columns are UTC. customer_id is that of the latest tracking request for the shipment
-- that names a customer.

create view {{datasync}}.shipments as
select
    shipments.shipment_id,
    shipments.shipping_line_scac,
    shipments.shipping_line_name,
    shipments.bill_of_lading_number,
    shipments.normalized_number,
    nullif(array_to_string(shipments.ref_numbers, ', '), '') as reference_numbers,
    -- Looked into only where there are some: looking costs more than all else of the row.
    case
        when cardinality(shipments.tags) > 0 then (
            select nullif(string_agg(tag, ', ' order by tag collate "C"), '')
            from unnest(shipments.tags) as tag
        )
    end as tags,
    request.customer_id,
    shipments.customer_name,
    shipments.port_of_lading_locode as pol_locode,
    shipments.port_of_discharge_locode as pod_locode,
    pod_terminal.firms_code as pod_terminal_firms_code,
    shipments.destination_locode,
    coalesce(terminal.firms_code, rail_terminal.firms_code) as destination_terminal_firms_code,
    shipments.pol_atd_at at time zone 'UTC' as pol_atd_at,
    shipments.pol_etd_at at time zone 'UTC' as pol_etd_at,
    shipments.pod_eta_at at time zone 'UTC' as pod_eta_at,
    shipments.pod_ata_at at time zone 'UTC' as pod_arrived_at,
    shipments.pod_voyage_number,
    shipments.pod_vessel_name,
    shipments.pod_vessel_imo,
    shipments.line_tracking_last_succeeded_at at time zone 'UTC' as line_tracking_last_succeeded_at,
    shipments.line_tracking_stopped_at at time zone 'UTC' as line_tracking_stopped_at,
    shipments.line_tracking_stopped_reason,
    shipments.created_at at time zone 'UTC' as created_at,
    shipments._changed_at at time zone 'UTC' as updated_at
from {{data}}.shipments
left join lateral (

    select asking.customer_id
    from {{data}}.tracking_requests as asking
    where asking.tracked_object_id = shipments.shipment_id
        and asking.customer_id is not null
        and asking._deleted_at is null
    order by asking.created_at desc nulls last, asking.tracking_request_id
    limit 1

) as request
    on true
left join {{data}}.terminals as pod_terminal
    on pod_terminal.terminal_id = shipments.pod_terminal_id
left join {{data}}.terminals as terminal
    on terminal.terminal_id = shipments.destination_terminal_id
    and shipments.destination_terminal_type = 'terminal'
left join {{data}}.rail_terminals as rail_terminal
    on rail_terminal.rail_terminal_id = shipments.destination_terminal_id
    and shipments.destination_terminal_type = 'rail_terminal'
where shipments._deleted_at is null;

comment on view {{datasync}}.shipments is
    'One row per live shipment, as in the table shipments of the service''s own export. Key: '
    'shipment_id.';
comment on column {{datasync}}.shipments.shipment_id is
    'The service''s id of the shipment.';
comment on column {{datasync}}.shipments.shipping_line_scac is
    'SCAC of the shipping line.';
comment on column {{datasync}}.shipments.shipping_line_name is
    'Name of the shipping line.';
comment on column {{datasync}}.shipments.bill_of_lading_number is
    'Bill of lading number.';
comment on column {{datasync}}.shipments.normalized_number is
    'The shipment''s number in the form used to ask the shipping line.';
comment on column {{datasync}}.shipments.reference_numbers is
    'Reference numbers, joined by comma and blank; null when there is none.';
comment on column {{datasync}}.shipments.tags is
    'Tags in the order of the alphabet, joined by comma and blank; null when there is none.';
comment on column {{datasync}}.shipments.customer_id is
    'Customer of its latest tracking request that names one; null where none does.';
comment on column {{datasync}}.shipments.customer_name is
    'Customer the shipment belongs to.';
comment on column {{datasync}}.shipments.pol_locode is
    'UN/LOCODE of the port of lading.';
comment on column {{datasync}}.shipments.pod_locode is
    'UN/LOCODE of the port of discharge.';
comment on column {{datasync}}.shipments.pod_terminal_firms_code is
    'FIRMS code of the terminal at the port of discharge.';
comment on column {{datasync}}.shipments.destination_locode is
    'UN/LOCODE of the destination.';
comment on column {{datasync}}.shipments.destination_terminal_firms_code is
    'FIRMS code of the terminal or rail terminal at the destination.';
comment on column {{datasync}}.shipments.pol_atd_at is
    'Departure from the port of lading. UTC.';
comment on column {{datasync}}.shipments.pol_etd_at is
    'Estimated departure from the port of lading. UTC.';
comment on column {{datasync}}.shipments.pod_eta_at is
    'Estimated arrival at the port of discharge. UTC.';
comment on column {{datasync}}.shipments.pod_arrived_at is
    'Arrival at the port of discharge, as the shipment says. UTC.';
comment on column {{datasync}}.shipments.pod_voyage_number is
    'Voyage of the vessel that arrives at the port of discharge.';
comment on column {{datasync}}.shipments.pod_vessel_name is
    'Name of the vessel that arrives at the port of discharge.';
comment on column {{datasync}}.shipments.pod_vessel_imo is
    'IMO number of the vessel that arrives at the port of discharge.';
comment on column {{datasync}}.shipments.line_tracking_last_succeeded_at is
    'When the shipping line last answered the service. UTC.';
comment on column {{datasync}}.shipments.line_tracking_stopped_at is
    'When the service stopped asking the shipping line. UTC.';
comment on column {{datasync}}.shipments.line_tracking_stopped_reason is
    'Why the service stopped asking the shipping line.';
comment on column {{datasync}}.shipments.created_at is
    'When the service created the shipment. UTC.';
comment on column {{datasync}}.shipments.updated_at is
    'When the source can have known the last material change (_changed_at). UTC.';
