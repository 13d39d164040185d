-- History: versions of shipments and containers, intervals of deadlines, holds and fees, and the
-- changes that notifications report. A version is made only when something material changed. The
-- version that stands has no valid_to, so that an as-of question needs one table.
-- Placeholders {{data}}, {{sync}}, {{analytics}}, {{asOf}}, {{stored}}, {{datasync}} are the schema
-- names derived from TRACKING_SCHEMA.

create table {{data}}.shipment_history (
    shipment_id text collate "C" not null,
    valid_from timestamptz not null,
    valid_to timestamptz,
    bill_of_lading_number text,
    normalized_number text,
    ref_numbers text[],
    created_at timestamptz,
    tags text[],
    port_of_lading_locode text,
    port_of_lading_name text,
    port_of_discharge_locode text,
    port_of_discharge_name text,
    destination_locode text,
    destination_name text,
    shipping_line_scac text,
    shipping_line_name text,
    shipping_line_short_name text,
    customer_name text,
    pod_vessel_name text,
    pod_vessel_imo text,
    pod_voyage_number text,
    pol_etd_at timestamptz,
    pol_original_etd_at timestamptz,
    pol_atd_at timestamptz,
    pod_eta_at timestamptz,
    pod_original_eta_at timestamptz,
    pod_ata_at timestamptz,
    destination_eta_at timestamptz,
    destination_original_eta_at timestamptz,
    destination_ata_at timestamptz,
    pol_timezone text,
    pod_timezone text,
    destination_timezone text,
    line_tracking_stopped_at timestamptz,
    line_tracking_stopped_reason text,
    port_of_lading_id text collate "C",
    port_of_discharge_id text collate "C",
    pod_terminal_id text collate "C",
    destination_id text collate "C",
    destination_type text,
    destination_terminal_id text collate "C",
    destination_terminal_type text,
    line_tracking_stopped_by_user_id text collate "C",
    source text not null,
    _sync_run_id bigint,
    constraint shipment_history_pkey primary key (shipment_id, valid_from)
);

comment on table {{data}}.shipment_history is
    'One row per version of a shipment.';
comment on column {{data}}.shipment_history.shipment_id is
    'The service''s id of the shipment.';
comment on column {{data}}.shipment_history.valid_from is
    'When the source can first have known this version (_observed_at). UTC.';
comment on column {{data}}.shipment_history.valid_to is
    'When it was replaced; null for the version that stands. UTC.';
comment on column {{data}}.shipment_history.bill_of_lading_number is
    'Bill of lading number. From attributes.bill_of_lading_number.';
comment on column {{data}}.shipment_history.normalized_number is
    'The shipment''s number in the form used to ask the shipping line. From '
    'attributes.normalized_number.';
comment on column {{data}}.shipment_history.ref_numbers is
    'The customer''s reference numbers. From attributes.ref_numbers.';
comment on column {{data}}.shipment_history.created_at is
    'When the service created the shipment. UTC. From attributes.created_at.';
comment on column {{data}}.shipment_history.tags is
    'Tags set at the service. From attributes.tags.';
comment on column {{data}}.shipment_history.port_of_lading_locode is
    'UN/LOCODE of the port of lading. From attributes.port_of_lading_locode.';
comment on column {{data}}.shipment_history.port_of_lading_name is
    'Name of the port of lading. From attributes.port_of_lading_name.';
comment on column {{data}}.shipment_history.port_of_discharge_locode is
    'UN/LOCODE of the port of discharge. From attributes.port_of_discharge_locode.';
comment on column {{data}}.shipment_history.port_of_discharge_name is
    'Name of the port of discharge. From attributes.port_of_discharge_name.';
comment on column {{data}}.shipment_history.destination_locode is
    'UN/LOCODE of the destination. From attributes.destination_locode.';
comment on column {{data}}.shipment_history.destination_name is
    'Name of the destination. From attributes.destination_name.';
comment on column {{data}}.shipment_history.shipping_line_scac is
    'Standard carrier alpha code of the shipping line. From attributes.shipping_line_scac.';
comment on column {{data}}.shipment_history.shipping_line_name is
    'Name of the shipping line. From attributes.shipping_line_name.';
comment on column {{data}}.shipment_history.shipping_line_short_name is
    'Short name of the shipping line. From attributes.shipping_line_short_name.';
comment on column {{data}}.shipment_history.customer_name is
    'Customer the shipment belongs to. From attributes.customer_name.';
comment on column {{data}}.shipment_history.pod_vessel_name is
    'Name of the vessel that arrives at the port of discharge. From attributes.pod_vessel_name.';
comment on column {{data}}.shipment_history.pod_vessel_imo is
    'IMO number of the vessel that arrives at the port of discharge. From '
    'attributes.pod_vessel_imo.';
comment on column {{data}}.shipment_history.pod_voyage_number is
    'Voyage number of the vessel that arrives at the port of discharge. From '
    'attributes.pod_voyage_number.';
comment on column {{data}}.shipment_history.pol_etd_at is
    'Estimated departure from the port of lading, as the shipping line reports it; depends '
    'on the line. UTC; local zone pol_timezone. From attributes.pol_etd_at.';
comment on column {{data}}.shipment_history.pol_original_etd_at is
    'First estimated departure from the port of lading that the line reported. UTC; local zone '
    'pol_timezone. From attributes.pol_original_etd_at.';
comment on column {{data}}.shipment_history.pol_atd_at is
    'Actual departure from the port of lading. UTC; local zone pol_timezone. From '
    'attributes.pol_atd_at.';
comment on column {{data}}.shipment_history.pod_eta_at is
    'Estimated arrival at the port of discharge. UTC; local zone pod_timezone. From '
    'attributes.pod_eta_at.';
comment on column {{data}}.shipment_history.pod_original_eta_at is
    'First estimated arrival at the port of discharge that the line reported. UTC; local '
    'zone pod_timezone. From attributes.pod_original_eta_at.';
comment on column {{data}}.shipment_history.pod_ata_at is
    'Actual arrival at the port of discharge. UTC; local zone pod_timezone. From '
    'attributes.pod_ata_at.';
comment on column {{data}}.shipment_history.destination_eta_at is
    'Estimated arrival at the destination as the line reports it; for inland rail see '
    'containers.ind_eta_at. UTC; local zone destination_timezone. From '
    'attributes.destination_eta_at.';
comment on column {{data}}.shipment_history.destination_original_eta_at is
    'First estimated arrival at the destination that the line reported. UTC; local zone '
    'destination_timezone. From attributes.destination_original_eta_at.';
comment on column {{data}}.shipment_history.destination_ata_at is
    'Actual arrival at the destination as the line reports it; for inland rail see '
    'containers.ind_ata_at. UTC; local zone destination_timezone. From '
    'attributes.destination_ata_at.';
comment on column {{data}}.shipment_history.pol_timezone is
    'IANA time zone of the port of lading. From attributes.pol_timezone.';
comment on column {{data}}.shipment_history.pod_timezone is
    'IANA time zone of the port of discharge. From attributes.pod_timezone.';
comment on column {{data}}.shipment_history.destination_timezone is
    'IANA time zone of the destination. From attributes.destination_timezone.';
comment on column {{data}}.shipment_history.line_tracking_stopped_at is
    'When the service stopped asking the shipping line; null while it still asks. UTC. From'
    ' attributes.line_tracking_stopped_at.';
comment on column {{data}}.shipment_history.line_tracking_stopped_reason is
    'Why the service stopped asking the shipping line. From '
    'attributes.line_tracking_stopped_reason.';
comment on column {{data}}.shipment_history.port_of_lading_id is
    'Port of lading; ports. From relationships.port_of_lading.';
comment on column {{data}}.shipment_history.port_of_discharge_id is
    'Port of discharge; ports. From relationships.port_of_discharge.';
comment on column {{data}}.shipment_history.pod_terminal_id is
    'Terminal at the port of discharge; terminals. From relationships.pod_terminal.';
comment on column {{data}}.shipment_history.destination_id is
    'Destination; ports or metro_areas by destination_type. From relationships.destination.';
comment on column {{data}}.shipment_history.destination_type is
    'Resource type that destination_id points to. From relationships.destination.';
comment on column {{data}}.shipment_history.destination_terminal_id is
    'Terminal at the destination; terminals or rail_terminals by destination_terminal_type.'
    ' From relationships.destination_terminal.';
comment on column {{data}}.shipment_history.destination_terminal_type is
    'Resource type that destination_terminal_id points to. From '
    'relationships.destination_terminal.';
comment on column {{data}}.shipment_history.line_tracking_stopped_by_user_id is
    'User of the service who stopped the tracking; null when no user did. From '
    'relationships.line_tracking_stopped_by_user.';
comment on column {{data}}.shipment_history.source is
    'Where we learned it: sync or webhook.';
comment on column {{data}}.shipment_history._sync_run_id is
    'The run that wrote this version; sync_runs in the bookkeeping schema.';

create unique index shipment_history_open_idx
    on {{data}}.shipment_history (shipment_id)
    where valid_to is null;

create table {{data}}.container_history (
    container_id text collate "C" not null,
    valid_from timestamptz not null,
    valid_to timestamptz,
    number text,
    ref_numbers text[],
    equipment_type text,
    equipment_length integer,
    equipment_height text,
    weight_in_lbs numeric,
    created_at timestamptz,
    seal_number text,
    pickup_lfd timestamptz,
    ssl_lfd timestamptz,
    pickup_appointment_at timestamptz,
    availability_known boolean,
    available_for_pickup boolean,
    empty_out_at timestamptz,
    pol_full_in_at timestamptz,
    pol_vessel_loaded_at timestamptz,
    pol_vessel_departed_at timestamptz,
    pod_arrived_at timestamptz,
    pod_discharged_at timestamptz,
    pod_full_out_at timestamptz,
    pod_full_out_chassis_number text,
    location_at_pod_terminal text,
    final_destination_full_out_at timestamptz,
    delivered_at timestamptz,
    empty_terminated_at timestamptz,
    holds_at_pod_terminal jsonb,
    fees_at_pod_terminal jsonb,
    ind_facility_holds jsonb,
    ind_facility_fees jsonb,
    pod_timezone text,
    final_destination_timezone text,
    empty_terminated_timezone text,
    pod_rail_carrier_scac text,
    ind_rail_carrier_scac text,
    pod_rail_loaded_at timestamptz,
    pod_rail_departed_at timestamptz,
    ind_eta_at timestamptz,
    ind_ata_at timestamptz,
    ind_rail_unloaded_at timestamptz,
    ind_facility_lfd_on timestamptz,
    import_deadlines jsonb,
    current_status text,
    shipment_id text collate "C",
    pickup_facility_id text collate "C",
    pod_terminal_id text collate "C",
    pickup_lfd_terminal timestamptz,
    pickup_lfd_rail timestamptz,
    pickup_lfd_line timestamptz,
    import_deadline_sources jsonb,
    source text not null,
    _sync_run_id bigint,
    constraint container_history_pkey primary key (container_id, valid_from)
);

comment on table {{data}}.container_history is
    'One row per version of a container.';
comment on column {{data}}.container_history.container_id is
    'The service''s id of the container: the equipment during one journey.';
comment on column {{data}}.container_history.valid_from is
    'When the source can first have known this version (_observed_at). UTC.';
comment on column {{data}}.container_history.valid_to is
    'When it was replaced; null for the version that stands. UTC.';
comment on column {{data}}.container_history.number is
    'Container number. Used again on later journeys, so never a key. From attributes.number.';
comment on column {{data}}.container_history.ref_numbers is
    'The customer''s reference numbers. From attributes.ref_numbers.';
comment on column {{data}}.container_history.equipment_type is
    'dry, reefer, open top, flat rack, bulk, tank, hard top; other values are kept. From '
    'attributes.equipment_type.';
comment on column {{data}}.container_history.equipment_length is
    'Length in feet: 10, 20, 40, 45, 50. From attributes.equipment_length.';
comment on column {{data}}.container_history.equipment_height is
    'standard or high_cube. From attributes.equipment_height.';
comment on column {{data}}.container_history.weight_in_lbs is
    'Weight in pounds. From attributes.weight_in_lbs.';
comment on column {{data}}.container_history.created_at is
    'When the service created the container. UTC. From attributes.created_at.';
comment on column {{data}}.container_history.seal_number is
    'Seal number. From attributes.seal_number.';
comment on column {{data}}.container_history.pickup_lfd is
    'Last free day as the service coalesces it from the deadlines, the line''s preferred. '
    'UTC; the local day is in container_import_deadlines. From attributes.pickup_lfd.';
comment on column {{data}}.container_history.ssl_lfd is
    'The shipping line''s last free day under its older name; counts where pickup_lfd_line is '
    'not sent. UTC; local zone pod_timezone. From attributes.ssl_lfd.';
comment on column {{data}}.container_history.pickup_appointment_at is
    'Pickup appointment at the terminal. UTC; local zone pod_timezone. From '
    'attributes.pickup_appointment_at.';
comment on column {{data}}.container_history.availability_known is
    'Whether the service receives availability from the terminal. From '
    'attributes.availability_known.';
comment on column {{data}}.container_history.available_for_pickup is
    'Available for pickup; means something only when availability_known. From '
    'attributes.available_for_pickup.';
comment on column {{data}}.container_history.empty_out_at is
    'Empty container out, for loading. UTC; the zone is that of its transport event, else '
    'pol_timezone of the shipment. From attributes.empty_out_at.';
comment on column {{data}}.container_history.pol_full_in_at is
    'Full container in, at the port of lading or an inland depot. UTC; the zone is that of its '
    'transport event, else pol_timezone of the shipment. From attributes.pol_full_in_at.';
comment on column {{data}}.container_history.pol_vessel_loaded_at is
    'Loaded on the vessel at the port of lading. UTC; local zone pol_timezone of the shipment. '
    'From attributes.pol_vessel_loaded_at.';
comment on column {{data}}.container_history.pol_vessel_departed_at is
    'Departure of the vessel from the port of lading. UTC; local zone pol_timezone of the '
    'shipment. From attributes.pol_vessel_departed_at.';
comment on column {{data}}.container_history.pod_arrived_at is
    'Vessel arrival at the port of discharge. UTC; local zone pod_timezone. From '
    'attributes.pod_arrived_at.';
comment on column {{data}}.container_history.pod_discharged_at is
    'Discharge at the port of discharge. UTC; local zone pod_timezone. From '
    'attributes.pod_discharged_at.';
comment on column {{data}}.container_history.pod_full_out_at is
    'Full out of the terminal at the port of discharge; null for inland moves. UTC; local '
    'zone pod_timezone. From attributes.pod_full_out_at.';
comment on column {{data}}.container_history.pod_full_out_chassis_number is
    'Chassis used at pickup at the port of discharge. From '
    'attributes.pod_full_out_chassis_number.';
comment on column {{data}}.container_history.location_at_pod_terminal is
    'Where the container stands at the terminal, in the terminal''s words. From '
    'attributes.location_at_pod_terminal.';
comment on column {{data}}.container_history.final_destination_full_out_at is
    'Pickup at the final destination of an inland move. UTC; local zone '
    'final_destination_timezone. From attributes.final_destination_full_out_at.';
comment on column {{data}}.container_history.delivered_at is
    'Delivery. UTC; the zone is that of its transport event, else final_destination_timezone or '
    'pod_timezone. From attributes.delivered_at.';
comment on column {{data}}.container_history.empty_terminated_at is
    'When the empty container was returned. UTC; local zone empty_terminated_timezone. From'
    ' attributes.empty_terminated_at.';
comment on column {{data}}.container_history.holds_at_pod_terminal is
    'Holds now standing, as sent; as rows in container_holds. From '
    'attributes.holds_at_pod_terminal.';
comment on column {{data}}.container_history.fees_at_pod_terminal is
    'Fees now standing, as sent; as rows in container_fees. From attributes.fees_at_pod_terminal.';
comment on column {{data}}.container_history.ind_facility_holds is
    'Holds now standing at the inland facility, as sent; as rows in container_holds, with place '
    'ramp. From attributes.ind_facility_holds.';
comment on column {{data}}.container_history.ind_facility_fees is
    'Fees now standing at the inland facility, as sent; as rows in container_fees, with place '
    'ramp. From attributes.ind_facility_fees.';
comment on column {{data}}.container_history.pod_timezone is
    'IANA time zone of the port of discharge; null: times there are local wall time marked '
    'as UTC. From attributes.pod_timezone.';
comment on column {{data}}.container_history.final_destination_timezone is
    'IANA time zone of the final destination. From attributes.final_destination_timezone.';
comment on column {{data}}.container_history.empty_terminated_timezone is
    'IANA time zone of the place of the empty return. From attributes.empty_terminated_timezone.';
comment on column {{data}}.container_history.pod_rail_carrier_scac is
    'Rail carrier of the pickup leg (beta at the service). From attributes.pod_rail_carrier_scac.';
comment on column {{data}}.container_history.ind_rail_carrier_scac is
    'Rail carrier of the delivery leg (beta at the service). From '
    'attributes.ind_rail_carrier_scac.';
comment on column {{data}}.container_history.pod_rail_loaded_at is
    'Loaded on rail at the port of discharge. UTC; local zone pod_timezone. From '
    'attributes.pod_rail_loaded_at.';
comment on column {{data}}.container_history.pod_rail_departed_at is
    'Departed by rail from the port of discharge. UTC; local zone pod_timezone. From '
    'attributes.pod_rail_departed_at.';
comment on column {{data}}.container_history.ind_eta_at is
    'Estimated arrival at the inland destination as the rail carrier reports it. UTC; local'
    ' zone final_destination_timezone. From attributes.ind_eta_at.';
comment on column {{data}}.container_history.ind_ata_at is
    'Actual arrival at the inland destination as the rail carrier reports it. UTC; local '
    'zone final_destination_timezone. From attributes.ind_ata_at.';
comment on column {{data}}.container_history.ind_rail_unloaded_at is
    'Unloaded from rail at the inland destination. UTC; local zone '
    'final_destination_timezone. From attributes.ind_rail_unloaded_at.';
comment on column {{data}}.container_history.ind_facility_lfd_on is
    'Last free day at the inland facility; deprecated at the service, counts where pickup_lfd_rail '
    'is not sent. UTC; local zone final_destination_timezone. From '
    'attributes.ind_facility_lfd_on.';
comment on column {{data}}.container_history.import_deadlines is
    'The deadlines as sent; as rows in container_import_deadlines. From '
    'attributes.import_deadlines.';
comment on column {{data}}.container_history.current_status is
    'new, on_ship, available, not_available, grounded, on_rail, picked_up, off_dock, '
    'delivered, dropped, loaded, empty_returned, awaiting_inland_transfer; other values are'
    ' kept. From attributes.current_status.';
comment on column {{data}}.container_history.shipment_id is
    'Shipment; shipments. A container can move to another shipment. From relationships.shipment.';
comment on column {{data}}.container_history.pickup_facility_id is
    'Facility where it is picked up; terminals. From relationships.pickup_facility.';
comment on column {{data}}.container_history.pod_terminal_id is
    'Terminal at the port of discharge; terminals. From relationships.pod_terminal.';
comment on column {{data}}.container_history.pickup_lfd_terminal is
    'Last free day before demurrage at the terminal. UTC; local zone pod_timezone. From '
    'attributes.import_deadlines.pickup_lfd_terminal.';
comment on column {{data}}.container_history.pickup_lfd_rail is
    'Last free day at the inland destination as the rail carrier says. UTC; local zone '
    'final_destination_timezone. From attributes.import_deadlines.pickup_lfd_rail.';
comment on column {{data}}.container_history.pickup_lfd_line is
    'Last free day as the shipping line says; depends on the line. UTC; local zone '
    'final_destination_timezone or pod_timezone. From '
    'attributes.import_deadlines.pickup_lfd_line.';
comment on column {{data}}.container_history.import_deadline_sources is
    'What import_deadlines says beyond one day a key, as an object by kind: the day (at, or on '
    'where a bare date was sent), place, and details sent with it. Null where there is no more. '
    'As rows in container_import_deadlines. From attributes.import_deadlines.';
comment on column {{data}}.container_history.source is
    'Where we learned it: sync or webhook.';
comment on column {{data}}.container_history._sync_run_id is
    'The run that wrote this version; sync_runs in the bookkeeping schema.';

create unique index container_history_open_idx
    on {{data}}.container_history (container_id)
    where valid_to is null;

create table {{data}}.container_import_deadline_history (
    container_id text collate "C" not null,
    kind text collate "C" not null,
    valid_from timestamptz not null,
    valid_to timestamptz,
    place text not null default 'port',
    deadline_at timestamptz,
    time_zone text,
    local_date date,
    source text not null,
    _sync_run_id bigint,
    constraint container_import_deadline_history_pkey primary key (container_id, kind, valid_from)
);

comment on table {{data}}.container_import_deadline_history is
    'One row per interval in which a deadline stood: how a last free day moved.';
comment on column {{data}}.container_import_deadline_history.container_id is
    'Container; containers.';
comment on column {{data}}.container_import_deadline_history.kind is
    'Which deadline: pickup_lfd (coalesced by the service), pickup_lfd_terminal, '
    'pickup_lfd_rail, pickup_lfd_line; with .original, .current, .calculated or .unified the day '
    'of that name that the source says beside; other names of import_deadlines as sent.';
comment on column {{data}}.container_import_deadline_history.valid_from is
    'When we first saw the value stand (_observed_at of the container). UTC.';
comment on column {{data}}.container_import_deadline_history.valid_to is
    'When we saw that it no longer stood; null while it stands. UTC.';
comment on column {{data}}.container_import_deadline_history.place is
    'Where the day applies: port (of discharge) or ramp (the inland facility).';
comment on column {{data}}.container_import_deadline_history.deadline_at is
    'The deadline as an instant, mostly local midnight of the day; null when the source '
    'sent a bare date. UTC.';
comment on column {{data}}.container_import_deadline_history.time_zone is
    'IANA time zone that applies to this kind of deadline; null: the instant is local wall '
    'time marked as UTC.';
comment on column {{data}}.container_import_deadline_history.local_date is
    'The last free day as a calendar day at the place; null when the zone is not known to '
    'the time zone database.';
comment on column {{data}}.container_import_deadline_history.source is
    'Where we learned it: sync or webhook.';
comment on column {{data}}.container_import_deadline_history._sync_run_id is
    'The run that opened this interval; sync_runs in the bookkeeping schema.';

create unique index container_import_deadline_history_open_idx
    on {{data}}.container_import_deadline_history (container_id, kind)
    where valid_to is null;

create table {{data}}.container_hold_history (
    container_id text collate "C" not null,
    hold_key text collate "C" not null,
    valid_from timestamptz not null,
    valid_to timestamptz,
    place text not null default 'port',
    name text,
    status text,
    description text,
    detail text,
    source text not null,
    _sync_run_id bigint,
    constraint container_hold_history_pkey primary key (container_id, hold_key, valid_from)
);

comment on table {{data}}.container_hold_history is
    'One row per interval in which a hold stood with one status: when it was placed and '
    'cleared, as far as we saw.';
comment on column {{data}}.container_hold_history.container_id is
    'Container; containers.';
comment on column {{data}}.container_hold_history.hold_key is
    'Distinguishes the holds of one container: by place, name and description, then by position.';
comment on column {{data}}.container_hold_history.valid_from is
    'When we first saw the value stand (_observed_at of the container). UTC.';
comment on column {{data}}.container_hold_history.valid_to is
    'When we saw that it no longer stood; null while it stands. UTC.';
comment on column {{data}}.container_hold_history.place is
    'Where it holds the container: port (of discharge) or ramp (the inland facility).';
comment on column {{data}}.container_hold_history.name is
    'What holds the container, for example customs or freight.';
comment on column {{data}}.container_hold_history.status is
    'pending or hold; other values are kept.';
comment on column {{data}}.container_hold_history.description is
    'The terminal''s own words.';
comment on column {{data}}.container_hold_history.detail is
    'More of the terminal''s own words.';
comment on column {{data}}.container_hold_history.source is
    'Where we learned it: sync or webhook.';
comment on column {{data}}.container_hold_history._sync_run_id is
    'The run that opened this interval; sync_runs in the bookkeeping schema.';

create unique index container_hold_history_open_idx
    on {{data}}.container_hold_history (container_id, hold_key)
    where valid_to is null;

create table {{data}}.container_fee_history (
    container_id text collate "C" not null,
    fee_key text collate "C" not null,
    valid_from timestamptz not null,
    valid_to timestamptz,
    place text not null default 'port',
    type text,
    amount numeric,
    currency_code text,
    description text,
    source text not null,
    _sync_run_id bigint,
    constraint container_fee_history_pkey primary key (container_id, fee_key, valid_from)
);

comment on table {{data}}.container_fee_history is
    'One row per interval in which a fee stood with one amount: how it grew.';
comment on column {{data}}.container_fee_history.container_id is
    'Container; containers.';
comment on column {{data}}.container_fee_history.fee_key is
    'Distinguishes the fees of one container: by place, type and currency, then by position.';
comment on column {{data}}.container_fee_history.valid_from is
    'When we first saw the value stand (_observed_at of the container). UTC.';
comment on column {{data}}.container_fee_history.valid_to is
    'When we saw that it no longer stood; null while it stands. UTC.';
comment on column {{data}}.container_fee_history.place is
    'Where it is charged: port (of discharge) or ramp (the inland facility).';
comment on column {{data}}.container_fee_history.type is
    'demurrage, exam, extended_dwell_time, other, total; other values are kept.';
comment on column {{data}}.container_fee_history.amount is
    'Amount in the currency, exact.';
comment on column {{data}}.container_fee_history.currency_code is
    'ISO 4217 code; null: local currency, not said.';
comment on column {{data}}.container_fee_history.description is
    'The words of the facility on the fee.';
comment on column {{data}}.container_fee_history.source is
    'Where we learned it: sync or webhook.';
comment on column {{data}}.container_fee_history._sync_run_id is
    'The run that opened this interval; sync_runs in the bookkeeping schema.';

create unique index container_fee_history_open_idx
    on {{data}}.container_fee_history (container_id, fee_key)
    where valid_to is null;

create table {{data}}.container_changes (
    container_id text collate "C" not null,
    change_id text collate "C" not null,
    attribute text collate "C" not null,
    changed_at timestamptz not null,
    old_value jsonb,
    new_value jsonb,
    data_source text,
    timezone text,
    _observed_at timestamptz not null,
    _notification_id text collate "C" not null,
    constraint container_changes_pkey primary key (container_id, change_id, attribute)
);

comment on table {{data}}.container_changes is
    'One row per attribute of a container that a notification says has changed, at the time of the '
    'change. Rows are only added. A container may have changes and no row of its own.';
comment on column {{data}}.container_changes.container_id is 'Container; containers.';
comment on column {{data}}.container_changes.change_id is
    'The service''s id of the change (container_updated_event); several attributes may change in '
    'one.';
comment on column {{data}}.container_changes.attribute is 'Attribute that changed.';
comment on column {{data}}.container_changes.changed_at is
    'When it changed, as the service says; when the notification was made where it does not. UTC.';
comment on column {{data}}.container_changes.old_value is 'Value before the change, as sent.';
comment on column {{data}}.container_changes.new_value is 'Value after the change, as sent.';
comment on column {{data}}.container_changes.data_source is
    'Who reported it to the service: shipping_line, terminal or ais.';
comment on column {{data}}.container_changes.timezone is 'IANA time zone of the change.';
comment on column {{data}}.container_changes._observed_at is
    'When the source can have known it: the stamp of the notification. UTC.';
comment on column {{data}}.container_changes._notification_id is
    'First notification of it; webhook_notifications.';

create index container_changes_changed_at_idx
    on {{data}}.container_changes (container_id, changed_at);
