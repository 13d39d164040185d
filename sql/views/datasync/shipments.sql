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
