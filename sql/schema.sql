-- What a migrated database holds. Written by `npm run db:dump`; do not edit.

create schema tracking;

comment on schema tracking is 'Container and shipment tracking: one table per resource type, kept equal to the tracking service.';

create table tracking.container_changes (
    container_id text collate "C" not null,
    change_id text collate "C" not null,
    attribute text collate "C" not null,
    changed_at timestamp with time zone not null,
    old_value jsonb,
    new_value jsonb,
    data_source text,
    timezone text,
    _observed_at timestamp with time zone not null,
    _notification_id text collate "C" not null,
    constraint container_changes_pkey PRIMARY KEY (container_id, change_id, attribute)
);
CREATE INDEX container_changes_changed_at_idx ON tracking.container_changes USING btree (container_id, changed_at);
comment on table tracking.container_changes is 'One row per attribute of a container that a notification says has changed, at the time of the change. Rows are only added. A container may have changes and no row of its own.';
comment on column tracking.container_changes.container_id is 'Container; containers.';
comment on column tracking.container_changes.change_id is 'The service''s id of the change (container_updated_event); several attributes may change in one.';
comment on column tracking.container_changes.attribute is 'Attribute that changed.';
comment on column tracking.container_changes.changed_at is 'When it changed, as the service says; when the notification was made where it does not. UTC.';
comment on column tracking.container_changes.old_value is 'Value before the change, as sent.';
comment on column tracking.container_changes.new_value is 'Value after the change, as sent.';
comment on column tracking.container_changes.data_source is 'Who reported it to the service: shipping_line, terminal or ais.';
comment on column tracking.container_changes.timezone is 'IANA time zone of the change.';
comment on column tracking.container_changes._observed_at is 'When the source can have known it: the stamp of the notification. UTC.';
comment on column tracking.container_changes._notification_id is 'First notification of it; webhook_notifications.';

create table tracking.container_fee_history (
    container_id text collate "C" not null,
    fee_key text collate "C" not null,
    valid_from timestamp with time zone not null,
    valid_to timestamp with time zone,
    place text not null default 'port'::text,
    type text,
    amount numeric,
    currency_code text,
    description text,
    source text not null,
    _sync_run_id bigint,
    constraint container_fee_history_pkey PRIMARY KEY (container_id, fee_key, valid_from)
);
CREATE UNIQUE INDEX container_fee_history_open_idx ON tracking.container_fee_history USING btree (container_id, fee_key) WHERE (valid_to IS NULL);
comment on table tracking.container_fee_history is 'One row per interval in which a fee stood with one amount: how it grew.';
comment on column tracking.container_fee_history.container_id is 'Container; containers.';
comment on column tracking.container_fee_history.fee_key is 'Distinguishes the fees of one container: by place, type and currency, then by position.';
comment on column tracking.container_fee_history.valid_from is 'When we first saw the value stand (_observed_at of the container). UTC.';
comment on column tracking.container_fee_history.valid_to is 'When we saw that it no longer stood; null while it stands. UTC.';
comment on column tracking.container_fee_history.place is 'Where it is charged: port (of discharge) or ramp (the inland facility).';
comment on column tracking.container_fee_history.type is 'demurrage, exam, extended_dwell_time, other, total; other values are kept.';
comment on column tracking.container_fee_history.amount is 'Amount in the currency, exact.';
comment on column tracking.container_fee_history.currency_code is 'ISO 4217 code; null: local currency, not said.';
comment on column tracking.container_fee_history.description is 'The words of the facility on the fee.';
comment on column tracking.container_fee_history.source is 'Where we learned it: sync or webhook.';
comment on column tracking.container_fee_history._sync_run_id is 'The run that opened this interval; sync_runs in the bookkeeping schema.';

create table tracking.container_fees (
    container_id text collate "C" not null,
    fee_key text collate "C" not null,
    place text not null default 'port'::text,
    type text,
    amount numeric,
    currency_code text,
    description text,
    is_total boolean not null,
    position integer,
    _unmapped jsonb,
    _coercions jsonb,
    _observed_at timestamp with time zone not null,
    _first_seen_at timestamp with time zone not null,
    _sync_run_id bigint,
    constraint container_fees_pkey PRIMARY KEY (container_id, fee_key)
);
comment on table tracking.container_fees is 'One row per fee now standing on a container.';
comment on column tracking.container_fees.container_id is 'Container; containers.';
comment on column tracking.container_fees.fee_key is 'Distinguishes the fees of one container: by place, type and currency, then by position.';
comment on column tracking.container_fees.place is 'Where it is charged: port (of discharge) or ramp (the inland facility).';
comment on column tracking.container_fees.type is 'demurrage, exam, extended_dwell_time, other, total; other values are kept.';
comment on column tracking.container_fees.amount is 'Amount in the currency, exact.';
comment on column tracking.container_fees.currency_code is 'ISO 4217 code; null: local currency, not said.';
comment on column tracking.container_fees.description is 'The words of the facility on the fee.';
comment on column tracking.container_fees.is_total is 'True for a line that sums the others; never add it to them.';
comment on column tracking.container_fees.position is 'Place in the source''s list, from 0.';
comment on column tracking.container_fees._unmapped is 'Fields of the item that have no column.';
comment on column tracking.container_fees._coercions is 'Values not stored as sent, by column: why, and the original as JSON text.';
comment on column tracking.container_fees._observed_at is '_observed_at of the container''s row this was derived from. UTC.';
comment on column tracking.container_fees._first_seen_at is 'When this row first stood. UTC.';
comment on column tracking.container_fees._sync_run_id is 'The run that last wrote this row; sync_runs in the bookkeeping schema.';

create table tracking.container_history (
    container_id text collate "C" not null,
    valid_from timestamp with time zone not null,
    valid_to timestamp with time zone,
    number text,
    ref_numbers text[],
    equipment_type text,
    equipment_length integer,
    equipment_height text,
    weight_in_lbs numeric,
    created_at timestamp with time zone,
    seal_number text,
    pickup_lfd timestamp with time zone,
    ssl_lfd timestamp with time zone,
    pickup_appointment_at timestamp with time zone,
    availability_known boolean,
    available_for_pickup boolean,
    empty_out_at timestamp with time zone,
    pol_full_in_at timestamp with time zone,
    pol_vessel_loaded_at timestamp with time zone,
    pol_vessel_departed_at timestamp with time zone,
    pod_arrived_at timestamp with time zone,
    pod_discharged_at timestamp with time zone,
    pod_full_out_at timestamp with time zone,
    pod_full_out_chassis_number text,
    location_at_pod_terminal text,
    final_destination_full_out_at timestamp with time zone,
    delivered_at timestamp with time zone,
    empty_terminated_at timestamp with time zone,
    holds_at_pod_terminal jsonb,
    fees_at_pod_terminal jsonb,
    ind_facility_holds jsonb,
    ind_facility_fees jsonb,
    pod_timezone text,
    final_destination_timezone text,
    empty_terminated_timezone text,
    pod_rail_carrier_scac text,
    ind_rail_carrier_scac text,
    pod_rail_loaded_at timestamp with time zone,
    pod_rail_departed_at timestamp with time zone,
    ind_eta_at timestamp with time zone,
    ind_ata_at timestamp with time zone,
    ind_rail_unloaded_at timestamp with time zone,
    ind_facility_lfd_on timestamp with time zone,
    import_deadlines jsonb,
    current_status text,
    shipment_id text collate "C",
    pickup_facility_id text collate "C",
    pod_terminal_id text collate "C",
    pickup_lfd_terminal timestamp with time zone,
    pickup_lfd_rail timestamp with time zone,
    pickup_lfd_line timestamp with time zone,
    import_deadline_sources jsonb,
    source text not null,
    _sync_run_id bigint,
    constraint container_history_pkey PRIMARY KEY (container_id, valid_from)
);
CREATE UNIQUE INDEX container_history_open_idx ON tracking.container_history USING btree (container_id) WHERE (valid_to IS NULL);
comment on table tracking.container_history is 'One row per version of a container.';
comment on column tracking.container_history.container_id is 'The service''s id of the container: the equipment during one journey.';
comment on column tracking.container_history.valid_from is 'When the source can first have known this version (_observed_at). UTC.';
comment on column tracking.container_history.valid_to is 'When it was replaced; null for the version that stands. UTC.';
comment on column tracking.container_history.number is 'Container number. Used again on later journeys, so never a key. From attributes.number.';
comment on column tracking.container_history.ref_numbers is 'The customer''s reference numbers. From attributes.ref_numbers.';
comment on column tracking.container_history.equipment_type is 'dry, reefer, open top, flat rack, bulk, tank, hard top; other values are kept. From attributes.equipment_type.';
comment on column tracking.container_history.equipment_length is 'Length in feet: 10, 20, 40, 45, 50. From attributes.equipment_length.';
comment on column tracking.container_history.equipment_height is 'standard or high_cube. From attributes.equipment_height.';
comment on column tracking.container_history.weight_in_lbs is 'Weight in pounds. From attributes.weight_in_lbs.';
comment on column tracking.container_history.created_at is 'When the service created the container. UTC. From attributes.created_at.';
comment on column tracking.container_history.seal_number is 'Seal number. From attributes.seal_number.';
comment on column tracking.container_history.pickup_lfd is 'Last free day as the service coalesces it from the deadlines, the line''s preferred. UTC; the local day is in container_import_deadlines. From attributes.pickup_lfd.';
comment on column tracking.container_history.ssl_lfd is 'The shipping line''s last free day under its older name; counts where pickup_lfd_line is not sent. UTC; local zone pod_timezone. From attributes.ssl_lfd.';
comment on column tracking.container_history.pickup_appointment_at is 'Pickup appointment at the terminal. UTC; local zone pod_timezone. From attributes.pickup_appointment_at.';
comment on column tracking.container_history.availability_known is 'Whether the service receives availability from the terminal. From attributes.availability_known.';
comment on column tracking.container_history.available_for_pickup is 'Available for pickup; means something only when availability_known. From attributes.available_for_pickup.';
comment on column tracking.container_history.empty_out_at is 'Empty container out, for loading. UTC; the zone is that of its transport event, else pol_timezone of the shipment. From attributes.empty_out_at.';
comment on column tracking.container_history.pol_full_in_at is 'Full container in, at the port of lading or an inland depot. UTC; the zone is that of its transport event, else pol_timezone of the shipment. From attributes.pol_full_in_at.';
comment on column tracking.container_history.pol_vessel_loaded_at is 'Loaded on the vessel at the port of lading. UTC; local zone pol_timezone of the shipment. From attributes.pol_vessel_loaded_at.';
comment on column tracking.container_history.pol_vessel_departed_at is 'Departure of the vessel from the port of lading. UTC; local zone pol_timezone of the shipment. From attributes.pol_vessel_departed_at.';
comment on column tracking.container_history.pod_arrived_at is 'Vessel arrival at the port of discharge. UTC; local zone pod_timezone. From attributes.pod_arrived_at.';
comment on column tracking.container_history.pod_discharged_at is 'Discharge at the port of discharge. UTC; local zone pod_timezone. From attributes.pod_discharged_at.';
comment on column tracking.container_history.pod_full_out_at is 'Full out of the terminal at the port of discharge; null for inland moves. UTC; local zone pod_timezone. From attributes.pod_full_out_at.';
comment on column tracking.container_history.pod_full_out_chassis_number is 'Chassis used at pickup at the port of discharge. From attributes.pod_full_out_chassis_number.';
comment on column tracking.container_history.location_at_pod_terminal is 'Where the container stands at the terminal, in the terminal''s words. From attributes.location_at_pod_terminal.';
comment on column tracking.container_history.final_destination_full_out_at is 'Pickup at the final destination of an inland move. UTC; local zone final_destination_timezone. From attributes.final_destination_full_out_at.';
comment on column tracking.container_history.delivered_at is 'Delivery. UTC; the zone is that of its transport event, else final_destination_timezone or pod_timezone. From attributes.delivered_at.';
comment on column tracking.container_history.empty_terminated_at is 'When the empty container was returned. UTC; local zone empty_terminated_timezone. From attributes.empty_terminated_at.';
comment on column tracking.container_history.holds_at_pod_terminal is 'Holds now standing, as sent; as rows in container_holds. From attributes.holds_at_pod_terminal.';
comment on column tracking.container_history.fees_at_pod_terminal is 'Fees now standing, as sent; as rows in container_fees. From attributes.fees_at_pod_terminal.';
comment on column tracking.container_history.ind_facility_holds is 'Holds now standing at the inland facility, as sent; as rows in container_holds, with place ramp. From attributes.ind_facility_holds.';
comment on column tracking.container_history.ind_facility_fees is 'Fees now standing at the inland facility, as sent; as rows in container_fees, with place ramp. From attributes.ind_facility_fees.';
comment on column tracking.container_history.pod_timezone is 'IANA time zone of the port of discharge; null: times there are local wall time marked as UTC. From attributes.pod_timezone.';
comment on column tracking.container_history.final_destination_timezone is 'IANA time zone of the final destination. From attributes.final_destination_timezone.';
comment on column tracking.container_history.empty_terminated_timezone is 'IANA time zone of the place of the empty return. From attributes.empty_terminated_timezone.';
comment on column tracking.container_history.pod_rail_carrier_scac is 'Rail carrier of the pickup leg (beta at the service). From attributes.pod_rail_carrier_scac.';
comment on column tracking.container_history.ind_rail_carrier_scac is 'Rail carrier of the delivery leg (beta at the service). From attributes.ind_rail_carrier_scac.';
comment on column tracking.container_history.pod_rail_loaded_at is 'Loaded on rail at the port of discharge. UTC; local zone pod_timezone. From attributes.pod_rail_loaded_at.';
comment on column tracking.container_history.pod_rail_departed_at is 'Departed by rail from the port of discharge. UTC; local zone pod_timezone. From attributes.pod_rail_departed_at.';
comment on column tracking.container_history.ind_eta_at is 'Estimated arrival at the inland destination as the rail carrier reports it. UTC; local zone final_destination_timezone. From attributes.ind_eta_at.';
comment on column tracking.container_history.ind_ata_at is 'Actual arrival at the inland destination as the rail carrier reports it. UTC; local zone final_destination_timezone. From attributes.ind_ata_at.';
comment on column tracking.container_history.ind_rail_unloaded_at is 'Unloaded from rail at the inland destination. UTC; local zone final_destination_timezone. From attributes.ind_rail_unloaded_at.';
comment on column tracking.container_history.ind_facility_lfd_on is 'Last free day at the inland facility; deprecated at the service, counts where pickup_lfd_rail is not sent. UTC; local zone final_destination_timezone. From attributes.ind_facility_lfd_on.';
comment on column tracking.container_history.import_deadlines is 'The deadlines as sent; as rows in container_import_deadlines. From attributes.import_deadlines.';
comment on column tracking.container_history.current_status is 'new, on_ship, available, not_available, grounded, on_rail, picked_up, off_dock, delivered, dropped, loaded, empty_returned, awaiting_inland_transfer; other values are kept. From attributes.current_status.';
comment on column tracking.container_history.shipment_id is 'Shipment; shipments. A container can move to another shipment. From relationships.shipment.';
comment on column tracking.container_history.pickup_facility_id is 'Facility where it is picked up; terminals. From relationships.pickup_facility.';
comment on column tracking.container_history.pod_terminal_id is 'Terminal at the port of discharge; terminals. From relationships.pod_terminal.';
comment on column tracking.container_history.pickup_lfd_terminal is 'Last free day before demurrage at the terminal. UTC; local zone pod_timezone. From attributes.import_deadlines.pickup_lfd_terminal.';
comment on column tracking.container_history.pickup_lfd_rail is 'Last free day at the inland destination as the rail carrier says. UTC; local zone final_destination_timezone. From attributes.import_deadlines.pickup_lfd_rail.';
comment on column tracking.container_history.pickup_lfd_line is 'Last free day as the shipping line says; depends on the line. UTC; local zone final_destination_timezone or pod_timezone. From attributes.import_deadlines.pickup_lfd_line.';
comment on column tracking.container_history.import_deadline_sources is 'What import_deadlines says beyond one day a key, as an object by kind: the day (at, or on where a bare date was sent), place, and details sent with it. Null where there is no more. As rows in container_import_deadlines. From attributes.import_deadlines.';
comment on column tracking.container_history.source is 'Where we learned it: sync or webhook.';
comment on column tracking.container_history._sync_run_id is 'The run that wrote this version; sync_runs in the bookkeeping schema.';

create table tracking.container_hold_history (
    container_id text collate "C" not null,
    hold_key text collate "C" not null,
    valid_from timestamp with time zone not null,
    valid_to timestamp with time zone,
    place text not null default 'port'::text,
    name text,
    status text,
    description text,
    detail text,
    source text not null,
    _sync_run_id bigint,
    constraint container_hold_history_pkey PRIMARY KEY (container_id, hold_key, valid_from)
);
CREATE UNIQUE INDEX container_hold_history_open_idx ON tracking.container_hold_history USING btree (container_id, hold_key) WHERE (valid_to IS NULL);
comment on table tracking.container_hold_history is 'One row per interval in which a hold stood with one status: when it was placed and cleared, as far as we saw.';
comment on column tracking.container_hold_history.container_id is 'Container; containers.';
comment on column tracking.container_hold_history.hold_key is 'Distinguishes the holds of one container: by place, name and description, then by position.';
comment on column tracking.container_hold_history.valid_from is 'When we first saw the value stand (_observed_at of the container). UTC.';
comment on column tracking.container_hold_history.valid_to is 'When we saw that it no longer stood; null while it stands. UTC.';
comment on column tracking.container_hold_history.place is 'Where it holds the container: port (of discharge) or ramp (the inland facility).';
comment on column tracking.container_hold_history.name is 'What holds the container, for example customs or freight.';
comment on column tracking.container_hold_history.status is 'pending or hold; other values are kept.';
comment on column tracking.container_hold_history.description is 'The terminal''s own words.';
comment on column tracking.container_hold_history.detail is 'More of the terminal''s own words.';
comment on column tracking.container_hold_history.source is 'Where we learned it: sync or webhook.';
comment on column tracking.container_hold_history._sync_run_id is 'The run that opened this interval; sync_runs in the bookkeeping schema.';

create table tracking.container_holds (
    container_id text collate "C" not null,
    hold_key text collate "C" not null,
    place text not null default 'port'::text,
    name text,
    status text,
    description text,
    detail text,
    position integer,
    _unmapped jsonb,
    _coercions jsonb,
    _observed_at timestamp with time zone not null,
    _first_seen_at timestamp with time zone not null,
    _sync_run_id bigint,
    constraint container_holds_pkey PRIMARY KEY (container_id, hold_key)
);
comment on table tracking.container_holds is 'One row per hold now standing on a container; a cleared hold is gone from here and closed in container_hold_history.';
comment on column tracking.container_holds.container_id is 'Container; containers.';
comment on column tracking.container_holds.hold_key is 'Distinguishes the holds of one container: by place, name and description, then by position.';
comment on column tracking.container_holds.place is 'Where it holds the container: port (of discharge) or ramp (the inland facility).';
comment on column tracking.container_holds.name is 'What holds the container, for example customs or freight.';
comment on column tracking.container_holds.status is 'pending or hold; other values are kept.';
comment on column tracking.container_holds.description is 'The terminal''s own words.';
comment on column tracking.container_holds.detail is 'More of the terminal''s own words.';
comment on column tracking.container_holds.position is 'Place in the source''s list, from 0.';
comment on column tracking.container_holds._unmapped is 'Fields of the item that have no column.';
comment on column tracking.container_holds._coercions is 'Values not stored as sent, by column: why, and the original as JSON text.';
comment on column tracking.container_holds._observed_at is '_observed_at of the container''s row this was derived from. UTC.';
comment on column tracking.container_holds._first_seen_at is 'When this row first stood. UTC.';
comment on column tracking.container_holds._sync_run_id is 'The run that last wrote this row; sync_runs in the bookkeeping schema.';

create table tracking.container_import_deadline_history (
    container_id text collate "C" not null,
    kind text collate "C" not null,
    valid_from timestamp with time zone not null,
    valid_to timestamp with time zone,
    place text not null default 'port'::text,
    deadline_at timestamp with time zone,
    time_zone text,
    local_date date,
    source text not null,
    _sync_run_id bigint,
    constraint container_import_deadline_history_pkey PRIMARY KEY (container_id, kind, valid_from)
);
CREATE UNIQUE INDEX container_import_deadline_history_open_idx ON tracking.container_import_deadline_history USING btree (container_id, kind) WHERE (valid_to IS NULL);
comment on table tracking.container_import_deadline_history is 'One row per interval in which a deadline stood: how a last free day moved.';
comment on column tracking.container_import_deadline_history.container_id is 'Container; containers.';
comment on column tracking.container_import_deadline_history.kind is 'Which deadline: pickup_lfd (coalesced by the service), pickup_lfd_terminal, pickup_lfd_rail, pickup_lfd_line; with .original, .current, .calculated or .unified the day of that name that the source says beside; other names of import_deadlines as sent.';
comment on column tracking.container_import_deadline_history.valid_from is 'When we first saw the value stand (_observed_at of the container). UTC.';
comment on column tracking.container_import_deadline_history.valid_to is 'When we saw that it no longer stood; null while it stands. UTC.';
comment on column tracking.container_import_deadline_history.place is 'Where the day applies: port (of discharge) or ramp (the inland facility).';
comment on column tracking.container_import_deadline_history.deadline_at is 'The deadline as an instant, mostly local midnight of the day; null when the source sent a bare date. UTC.';
comment on column tracking.container_import_deadline_history.time_zone is 'IANA time zone that applies to this kind of deadline; null: the instant is local wall time marked as UTC.';
comment on column tracking.container_import_deadline_history.local_date is 'The last free day as a calendar day at the place; null when the zone is not known to the time zone database.';
comment on column tracking.container_import_deadline_history.source is 'Where we learned it: sync or webhook.';
comment on column tracking.container_import_deadline_history._sync_run_id is 'The run that opened this interval; sync_runs in the bookkeeping schema.';

create table tracking.container_import_deadlines (
    container_id text collate "C" not null,
    kind text collate "C" not null,
    place text not null default 'port'::text,
    deadline_at timestamp with time zone,
    time_zone text,
    local_date date,
    is_zone_known boolean not null,
    details jsonb,
    _observed_at timestamp with time zone not null,
    _first_seen_at timestamp with time zone not null,
    _sync_run_id bigint,
    constraint container_import_deadlines_pkey PRIMARY KEY (container_id, kind)
);
comment on table tracking.container_import_deadlines is 'One row per container and kind of deadline that is set.';
comment on column tracking.container_import_deadlines.container_id is 'Container; containers.';
comment on column tracking.container_import_deadlines.kind is 'Which deadline: pickup_lfd (coalesced by the service), pickup_lfd_terminal, pickup_lfd_rail, pickup_lfd_line; with .original, .current, .calculated or .unified the day of that name that the source says beside; other names of import_deadlines as sent.';
comment on column tracking.container_import_deadlines.place is 'Where the day applies: port (of discharge) or ramp (the inland facility).';
comment on column tracking.container_import_deadlines.deadline_at is 'The deadline as an instant, mostly local midnight of the day; null when the source sent a bare date. UTC.';
comment on column tracking.container_import_deadlines.time_zone is 'IANA time zone that applies to this kind of deadline; null: the instant is local wall time marked as UTC.';
comment on column tracking.container_import_deadlines.local_date is 'The last free day as a calendar day at the place; null when the zone is not known to the time zone database.';
comment on column tracking.container_import_deadlines.is_zone_known is 'False when the zone is null or not in the time zone database.';
comment on column tracking.container_import_deadlines.details is 'What was sent with the day, as sent: free days, start event, holidays, business days. Null: nothing.';
comment on column tracking.container_import_deadlines._observed_at is '_observed_at of the container''s row this was derived from. UTC.';
comment on column tracking.container_import_deadlines._first_seen_at is 'When this row first stood. UTC.';
comment on column tracking.container_import_deadlines._sync_run_id is 'The run that last wrote this row; sync_runs in the bookkeeping schema.';

create table tracking.containers (
    container_id text collate "C" not null,
    number text,
    ref_numbers text[],
    equipment_type text,
    equipment_length integer,
    equipment_height text,
    weight_in_lbs numeric,
    created_at timestamp with time zone,
    seal_number text,
    pickup_lfd timestamp with time zone,
    ssl_lfd timestamp with time zone,
    pickup_appointment_at timestamp with time zone,
    availability_known boolean,
    available_for_pickup boolean,
    empty_out_at timestamp with time zone,
    pol_full_in_at timestamp with time zone,
    pol_vessel_loaded_at timestamp with time zone,
    pol_vessel_departed_at timestamp with time zone,
    pod_arrived_at timestamp with time zone,
    pod_discharged_at timestamp with time zone,
    pod_full_out_at timestamp with time zone,
    terminal_checked_at timestamp with time zone,
    pod_full_out_chassis_number text,
    location_at_pod_terminal text,
    final_destination_full_out_at timestamp with time zone,
    delivered_at timestamp with time zone,
    empty_terminated_at timestamp with time zone,
    holds_at_pod_terminal jsonb,
    fees_at_pod_terminal jsonb,
    ind_facility_holds jsonb,
    ind_facility_fees jsonb,
    pod_timezone text,
    final_destination_timezone text,
    empty_terminated_timezone text,
    pod_rail_carrier_scac text,
    ind_rail_carrier_scac text,
    pod_last_tracking_request_at timestamp with time zone,
    rail_last_tracking_request_at timestamp with time zone,
    shipment_last_tracking_request_at timestamp with time zone,
    pod_rail_loaded_at timestamp with time zone,
    pod_rail_departed_at timestamp with time zone,
    ind_eta_at timestamp with time zone,
    ind_ata_at timestamp with time zone,
    ind_rail_unloaded_at timestamp with time zone,
    ind_facility_lfd_on timestamp with time zone,
    import_deadlines jsonb,
    current_status text,
    shipment_id text collate "C",
    pickup_facility_id text collate "C",
    pod_terminal_id text collate "C",
    transport_event_ids text[],
    pickup_lfd_terminal timestamp with time zone,
    pickup_lfd_rail timestamp with time zone,
    pickup_lfd_line timestamp with time zone,
    import_deadline_sources jsonb,
    _observed_at timestamp with time zone not null,
    _first_seen_at timestamp with time zone not null,
    _changed_at timestamp with time zone not null,
    _fingerprint text collate "C",
    _deleted_at timestamp with time zone,
    _sync_run_id bigint,
    _unmapped jsonb,
    _coercions jsonb,
    _digest text collate "C",
    constraint containers_pkey PRIMARY KEY (container_id)
);
CREATE INDEX containers_number_idx ON tracking.containers USING hash (number);
CREATE INDEX containers_pod_terminal_id_idx ON tracking.containers USING btree (pod_terminal_id);
CREATE INDEX containers_shipment_id_idx ON tracking.containers USING btree (shipment_id);
comment on table tracking.containers is 'One row per container: the equipment during one journey.';
comment on column tracking.containers.container_id is 'The service''s id of the container: the equipment during one journey.';
comment on column tracking.containers.number is 'Container number. Used again on later journeys, so never a key. From attributes.number.';
comment on column tracking.containers.ref_numbers is 'The customer''s reference numbers. From attributes.ref_numbers.';
comment on column tracking.containers.equipment_type is 'dry, reefer, open top, flat rack, bulk, tank, hard top; other values are kept. From attributes.equipment_type.';
comment on column tracking.containers.equipment_length is 'Length in feet: 10, 20, 40, 45, 50. From attributes.equipment_length.';
comment on column tracking.containers.equipment_height is 'standard or high_cube. From attributes.equipment_height.';
comment on column tracking.containers.weight_in_lbs is 'Weight in pounds. From attributes.weight_in_lbs.';
comment on column tracking.containers.created_at is 'When the service created the container. UTC. From attributes.created_at.';
comment on column tracking.containers.seal_number is 'Seal number. From attributes.seal_number.';
comment on column tracking.containers.pickup_lfd is 'Last free day as the service coalesces it from the deadlines, the line''s preferred. UTC; the local day is in container_import_deadlines. From attributes.pickup_lfd.';
comment on column tracking.containers.ssl_lfd is 'The shipping line''s last free day under its older name; counts where pickup_lfd_line is not sent. UTC; local zone pod_timezone. From attributes.ssl_lfd.';
comment on column tracking.containers.pickup_appointment_at is 'Pickup appointment at the terminal. UTC; local zone pod_timezone. From attributes.pickup_appointment_at.';
comment on column tracking.containers.availability_known is 'Whether the service receives availability from the terminal. From attributes.availability_known.';
comment on column tracking.containers.available_for_pickup is 'Available for pickup; means something only when availability_known. From attributes.available_for_pickup.';
comment on column tracking.containers.empty_out_at is 'Empty container out, for loading. UTC; the zone is that of its transport event, else pol_timezone of the shipment. From attributes.empty_out_at.';
comment on column tracking.containers.pol_full_in_at is 'Full container in, at the port of lading or an inland depot. UTC; the zone is that of its transport event, else pol_timezone of the shipment. From attributes.pol_full_in_at.';
comment on column tracking.containers.pol_vessel_loaded_at is 'Loaded on the vessel at the port of lading. UTC; local zone pol_timezone of the shipment. From attributes.pol_vessel_loaded_at.';
comment on column tracking.containers.pol_vessel_departed_at is 'Departure of the vessel from the port of lading. UTC; local zone pol_timezone of the shipment. From attributes.pol_vessel_departed_at.';
comment on column tracking.containers.pod_arrived_at is 'Vessel arrival at the port of discharge. UTC; local zone pod_timezone. From attributes.pod_arrived_at.';
comment on column tracking.containers.pod_discharged_at is 'Discharge at the port of discharge. UTC; local zone pod_timezone. From attributes.pod_discharged_at.';
comment on column tracking.containers.pod_full_out_at is 'Full out of the terminal at the port of discharge; null for inland moves. UTC; local zone pod_timezone. From attributes.pod_full_out_at.';
comment on column tracking.containers.terminal_checked_at is 'When the service last asked the terminal. UTC. From attributes.terminal_checked_at.';
comment on column tracking.containers.pod_full_out_chassis_number is 'Chassis used at pickup at the port of discharge. From attributes.pod_full_out_chassis_number.';
comment on column tracking.containers.location_at_pod_terminal is 'Where the container stands at the terminal, in the terminal''s words. From attributes.location_at_pod_terminal.';
comment on column tracking.containers.final_destination_full_out_at is 'Pickup at the final destination of an inland move. UTC; local zone final_destination_timezone. From attributes.final_destination_full_out_at.';
comment on column tracking.containers.delivered_at is 'Delivery. UTC; the zone is that of its transport event, else final_destination_timezone or pod_timezone. From attributes.delivered_at.';
comment on column tracking.containers.empty_terminated_at is 'When the empty container was returned. UTC; local zone empty_terminated_timezone. From attributes.empty_terminated_at.';
comment on column tracking.containers.holds_at_pod_terminal is 'Holds now standing, as sent; as rows in container_holds. From attributes.holds_at_pod_terminal.';
comment on column tracking.containers.fees_at_pod_terminal is 'Fees now standing, as sent; as rows in container_fees. From attributes.fees_at_pod_terminal.';
comment on column tracking.containers.ind_facility_holds is 'Holds now standing at the inland facility, as sent; as rows in container_holds, with place ramp. From attributes.ind_facility_holds.';
comment on column tracking.containers.ind_facility_fees is 'Fees now standing at the inland facility, as sent; as rows in container_fees, with place ramp. From attributes.ind_facility_fees.';
comment on column tracking.containers.pod_timezone is 'IANA time zone of the port of discharge; null: times there are local wall time marked as UTC. From attributes.pod_timezone.';
comment on column tracking.containers.final_destination_timezone is 'IANA time zone of the final destination. From attributes.final_destination_timezone.';
comment on column tracking.containers.empty_terminated_timezone is 'IANA time zone of the place of the empty return. From attributes.empty_terminated_timezone.';
comment on column tracking.containers.pod_rail_carrier_scac is 'Rail carrier of the pickup leg (beta at the service). From attributes.pod_rail_carrier_scac.';
comment on column tracking.containers.ind_rail_carrier_scac is 'Rail carrier of the delivery leg (beta at the service). From attributes.ind_rail_carrier_scac.';
comment on column tracking.containers.pod_last_tracking_request_at is 'When the service last asked about the port of discharge. UTC. From attributes.pod_last_tracking_request_at.';
comment on column tracking.containers.rail_last_tracking_request_at is 'When the service last asked the rail carrier. UTC. Changes all the time: never a new version. From attributes.rail_last_tracking_request_at.';
comment on column tracking.containers.shipment_last_tracking_request_at is 'When the service last asked about the shipment. UTC. From attributes.shipment_last_tracking_request_at.';
comment on column tracking.containers.pod_rail_loaded_at is 'Loaded on rail at the port of discharge. UTC; local zone pod_timezone. From attributes.pod_rail_loaded_at.';
comment on column tracking.containers.pod_rail_departed_at is 'Departed by rail from the port of discharge. UTC; local zone pod_timezone. From attributes.pod_rail_departed_at.';
comment on column tracking.containers.ind_eta_at is 'Estimated arrival at the inland destination as the rail carrier reports it. UTC; local zone final_destination_timezone. From attributes.ind_eta_at.';
comment on column tracking.containers.ind_ata_at is 'Actual arrival at the inland destination as the rail carrier reports it. UTC; local zone final_destination_timezone. From attributes.ind_ata_at.';
comment on column tracking.containers.ind_rail_unloaded_at is 'Unloaded from rail at the inland destination. UTC; local zone final_destination_timezone. From attributes.ind_rail_unloaded_at.';
comment on column tracking.containers.ind_facility_lfd_on is 'Last free day at the inland facility; deprecated at the service, counts where pickup_lfd_rail is not sent. UTC; local zone final_destination_timezone. From attributes.ind_facility_lfd_on.';
comment on column tracking.containers.import_deadlines is 'The deadlines as sent; as rows in container_import_deadlines. From attributes.import_deadlines.';
comment on column tracking.containers.current_status is 'new, on_ship, available, not_available, grounded, on_rail, picked_up, off_dock, delivered, dropped, loaded, empty_returned, awaiting_inland_transfer; other values are kept. From attributes.current_status.';
comment on column tracking.containers.shipment_id is 'Shipment; shipments. A container can move to another shipment. From relationships.shipment.';
comment on column tracking.containers.pickup_facility_id is 'Facility where it is picked up; terminals. From relationships.pickup_facility.';
comment on column tracking.containers.pod_terminal_id is 'Terminal at the port of discharge; terminals. From relationships.pod_terminal.';
comment on column tracking.containers.transport_event_ids is 'Ids of the container''s transport events. From relationships.transport_events.';
comment on column tracking.containers.pickup_lfd_terminal is 'Last free day before demurrage at the terminal. UTC; local zone pod_timezone. From attributes.import_deadlines.pickup_lfd_terminal.';
comment on column tracking.containers.pickup_lfd_rail is 'Last free day at the inland destination as the rail carrier says. UTC; local zone final_destination_timezone. From attributes.import_deadlines.pickup_lfd_rail.';
comment on column tracking.containers.pickup_lfd_line is 'Last free day as the shipping line says; depends on the line. UTC; local zone final_destination_timezone or pod_timezone. From attributes.import_deadlines.pickup_lfd_line.';
comment on column tracking.containers.import_deadline_sources is 'What import_deadlines says beyond one day a key, as an object by kind: the day (at, or on where a bare date was sent), place, and details sent with it. Null where there is no more. As rows in container_import_deadlines. From attributes.import_deadlines.';
comment on column tracking.containers._observed_at is 'When the source can have known this: start of the request on the source''s clock, or the notification''s own time. A row never goes back behind it. UTC.';
comment on column tracking.containers._first_seen_at is '_observed_at of the first sighting. UTC.';
comment on column tracking.containers._changed_at is '_observed_at of the last material change: any column but our own, time stamps of checking, lists of ids and _unmapped. UTC.';
comment on column tracking.containers._fingerprint is 'Hash of the record as last written; equal hashes mean that nothing has to be written.';
comment on column tracking.containers._deleted_at is 'Tombstone: when the record was found gone at the source; null while it lives. UTC.';
comment on column tracking.containers._sync_run_id is 'The run that last wrote this row; sync_runs in the bookkeeping schema.';
comment on column tracking.containers._unmapped is 'Everything the source sent that has no column, by attribute name; other parts of the record as relationships.<name>, links.<name>, record.<name>; an attribute with a dot in its name as attributes.<name>.';
comment on column tracking.containers._coercions is 'Values not stored as sent, by column (or _unmapped): why, and the original as JSON text.';
comment on column tracking.containers._digest is 'Hash of the bytes the record was last written from: lets an unchanged record be recognised without parsing. Null until a run records it.';

create table tracking.custom_field_definitions (
    custom_field_definition_id text collate "C" not null,
    entity_type text,
    api_slug text collate "C",
    display_name text,
    data_type text,
    description text,
    reference_type text,
    default_format text,
    validation jsonb,
    default_value jsonb,
    sensitive boolean,
    _observed_at timestamp with time zone not null,
    _first_seen_at timestamp with time zone not null,
    _changed_at timestamp with time zone not null,
    _fingerprint text collate "C",
    _deleted_at timestamp with time zone,
    _sync_run_id bigint,
    _unmapped jsonb,
    _coercions jsonb,
    _digest text collate "C",
    constraint custom_field_definitions_pkey PRIMARY KEY (custom_field_definition_id)
);
comment on table tracking.custom_field_definitions is 'One row per custom field that the account has defined.';
comment on column tracking.custom_field_definitions.custom_field_definition_id is 'The service''s id of the definition.';
comment on column tracking.custom_field_definitions.entity_type is 'What has the field: Shipment, Container or TrackingRequest. From attributes.entity_type.';
comment on column tracking.custom_field_definitions.api_slug is 'Name of the field in requests, unique for its entity type. From attributes.api_slug.';
comment on column tracking.custom_field_definitions.display_name is 'Name of the field as shown to people. From attributes.display_name.';
comment on column tracking.custom_field_definitions.data_type is 'Type of its values: short_text, number, date, datetime, boolean, enum, enum_multi or reference. Decides into which column of custom_fields a value is cast. From attributes.data_type.';
comment on column tracking.custom_field_definitions.description is 'What the field is for. From attributes.description.';
comment on column tracking.custom_field_definitions.reference_type is 'What values of the type reference point to. From attributes.reference_type.';
comment on column tracking.custom_field_definitions.default_format is 'How the service shows values. From attributes.default_format.';
comment on column tracking.custom_field_definitions.validation is 'What the service checks of new values, as sent. From attributes.validation.';
comment on column tracking.custom_field_definitions.default_value is 'Value of a new entity, as sent. From attributes.default_value.';
comment on column tracking.custom_field_definitions.sensitive is 'True where values are not stored unless TRACKING_SENSITIVE_FIELDS names the slug; null where the service does not say. From attributes.sensitive.';
comment on column tracking.custom_field_definitions._observed_at is 'When the source can have known this: start of the request on the source''s clock, or the notification''s own time. A row never goes back behind it. UTC.';
comment on column tracking.custom_field_definitions._first_seen_at is '_observed_at of the first sighting. UTC.';
comment on column tracking.custom_field_definitions._changed_at is '_observed_at of the last material change: any column but our own, time stamps of checking, lists of ids and _unmapped. UTC.';
comment on column tracking.custom_field_definitions._fingerprint is 'Hash of the record as last written; equal hashes mean that nothing has to be written.';
comment on column tracking.custom_field_definitions._deleted_at is 'Tombstone: when the record was found gone at the source; null while it lives. UTC.';
comment on column tracking.custom_field_definitions._sync_run_id is 'The run that last wrote this row; sync_runs in the bookkeeping schema.';
comment on column tracking.custom_field_definitions._unmapped is 'Everything the source sent that has no column, by attribute name; other parts of the record as relationships.<name>, links.<name>, record.<name>; an attribute with a dot in its name as attributes.<name>.';
comment on column tracking.custom_field_definitions._coercions is 'Values not stored as sent, by column (or _unmapped): why, and the original as JSON text.';
comment on column tracking.custom_field_definitions._digest is 'Hash of the bytes the record was last written from: lets an unchanged record be recognised without parsing. Null until a run records it.';

create table tracking.custom_field_options (
    custom_field_option_id text collate "C" not null,
    label text,
    value jsonb,
    position integer,
    definition_id text collate "C",
    _observed_at timestamp with time zone not null,
    _first_seen_at timestamp with time zone not null,
    _changed_at timestamp with time zone not null,
    _fingerprint text collate "C",
    _deleted_at timestamp with time zone,
    _sync_run_id bigint,
    _unmapped jsonb,
    _coercions jsonb,
    _digest text collate "C",
    constraint custom_field_options_pkey PRIMARY KEY (custom_field_option_id)
);
CREATE INDEX custom_field_options_definition_id_idx ON tracking.custom_field_options USING btree (definition_id);
comment on table tracking.custom_field_options is 'One row per value that a custom field of the type enum or enum_multi may take.';
comment on column tracking.custom_field_options.custom_field_option_id is 'The service''s id of the option.';
comment on column tracking.custom_field_options.label is 'Value as shown to people. From attributes.label.';
comment on column tracking.custom_field_options.value is 'Value as custom_fields.value holds it. From attributes.value.';
comment on column tracking.custom_field_options.position is 'Place among the options of the field. From attributes.position.';
comment on column tracking.custom_field_options.definition_id is 'Custom field that may take the value; custom_field_definitions. From relationships.definition.';
comment on column tracking.custom_field_options._observed_at is 'When the source can have known this: start of the request on the source''s clock, or the notification''s own time. A row never goes back behind it. UTC.';
comment on column tracking.custom_field_options._first_seen_at is '_observed_at of the first sighting. UTC.';
comment on column tracking.custom_field_options._changed_at is '_observed_at of the last material change: any column but our own, time stamps of checking, lists of ids and _unmapped. UTC.';
comment on column tracking.custom_field_options._fingerprint is 'Hash of the record as last written; equal hashes mean that nothing has to be written.';
comment on column tracking.custom_field_options._deleted_at is 'Tombstone: when the record was found gone at the source; null while it lives. UTC.';
comment on column tracking.custom_field_options._sync_run_id is 'The run that last wrote this row; sync_runs in the bookkeeping schema.';
comment on column tracking.custom_field_options._unmapped is 'Everything the source sent that has no column, by attribute name; other parts of the record as relationships.<name>, links.<name>, record.<name>; an attribute with a dot in its name as attributes.<name>.';
comment on column tracking.custom_field_options._coercions is 'Values not stored as sent, by column (or _unmapped): why, and the original as JSON text.';
comment on column tracking.custom_field_options._digest is 'Hash of the bytes the record was last written from: lets an unchanged record be recognised without parsing. Null until a run records it.';

create table tracking.custom_fields (
    entity_id text collate "C",
    api_slug text collate "C",
    custom_field_id text collate "C" not null,
    value jsonb,
    display_value text,
    entity_type text,
    definition_id text collate "C",
    _observed_at timestamp with time zone not null,
    _first_seen_at timestamp with time zone not null,
    _changed_at timestamp with time zone not null,
    _fingerprint text collate "C",
    _deleted_at timestamp with time zone,
    _sync_run_id bigint,
    _unmapped jsonb,
    _coercions jsonb,
    _digest text collate "C",
    data_type text,
    value_text text,
    value_number numeric,
    value_date date,
    value_timestamp timestamp with time zone,
    value_boolean boolean,
    value_list text[],
    constraint custom_fields_pkey PRIMARY KEY (custom_field_id)
);
CREATE INDEX custom_fields_entity_id_idx ON tracking.custom_fields USING btree (entity_id);
comment on table tracking.custom_fields is 'One row per value of a custom field on a shipment, container or tracking request.';
comment on column tracking.custom_fields.entity_id is 'Shipment, container or tracking request that has the value. From relationships.entity.';
comment on column tracking.custom_fields.api_slug is 'Slug of the definition. From attributes.api_slug.';
comment on column tracking.custom_fields.custom_field_id is 'The service''s id of the custom field.';
comment on column tracking.custom_fields.value is 'Value as it was sent. From attributes.value.';
comment on column tracking.custom_fields.display_value is 'Value as shown to people; null where the service does not say. From attributes.display_value.';
comment on column tracking.custom_fields.entity_type is 'shipment, container or tracking_request. From relationships.entity.';
comment on column tracking.custom_fields.definition_id is 'Definition; custom_field_definitions. From relationships.definition.';
comment on column tracking.custom_fields._observed_at is 'When the source can have known this: start of the request on the source''s clock, or the notification''s own time. A row never goes back behind it. UTC.';
comment on column tracking.custom_fields._first_seen_at is '_observed_at of the first sighting. UTC.';
comment on column tracking.custom_fields._changed_at is '_observed_at of the last material change: any column but our own, time stamps of checking, lists of ids and _unmapped. UTC.';
comment on column tracking.custom_fields._fingerprint is 'Hash of the record as last written; equal hashes mean that nothing has to be written.';
comment on column tracking.custom_fields._deleted_at is 'Tombstone: when the record was found gone at the source; null while it lives. UTC.';
comment on column tracking.custom_fields._sync_run_id is 'The run that last wrote this row; sync_runs in the bookkeeping schema.';
comment on column tracking.custom_fields._unmapped is 'Everything the source sent that has no column, by attribute name; other parts of the record as relationships.<name>, links.<name>, record.<name>; an attribute with a dot in its name as attributes.<name>.';
comment on column tracking.custom_fields._coercions is 'Values not stored as sent, by column (or _unmapped): why, and the original as JSON text.';
comment on column tracking.custom_fields._digest is 'Hash of the bytes the record was last written from: lets an unchanged record be recognised without parsing. Null until a run records it.';
comment on column tracking.custom_fields.data_type is 'Type by which the value was cast, from the definition; null where the definition is not known: then the value is cast by what it is in JSON.';
comment on column tracking.custom_fields.value_text is 'Value of the types short_text, enum and reference. From attributes.value.';
comment on column tracking.custom_fields.value_number is 'Value of the type number. From attributes.value.';
comment on column tracking.custom_fields.value_date is 'Value of the type date. From attributes.value.';
comment on column tracking.custom_fields.value_timestamp is 'Value of the type datetime. UTC. From attributes.value.';
comment on column tracking.custom_fields.value_boolean is 'Value of the type boolean. From attributes.value.';
comment on column tracking.custom_fields.value_list is 'Values of the type enum_multi. From attributes.value.';

create table tracking.metro_areas (
    metro_area_id text collate "C" not null,
    name text,
    code text,
    state_abbr text,
    country_code text,
    time_zone text,
    latitude numeric,
    longitude numeric,
    _observed_at timestamp with time zone not null,
    _first_seen_at timestamp with time zone not null,
    _changed_at timestamp with time zone not null,
    _fingerprint text collate "C",
    _deleted_at timestamp with time zone,
    _sync_run_id bigint,
    _unmapped jsonb,
    _coercions jsonb,
    _digest text collate "C",
    constraint metro_areas_pkey PRIMARY KEY (metro_area_id)
);
comment on table tracking.metro_areas is 'One row per inland place or metropolitan area that can be a destination.';
comment on column tracking.metro_areas.metro_area_id is 'The service''s id of the metropolitan area.';
comment on column tracking.metro_areas.name is 'Name. From attributes.name.';
comment on column tracking.metro_areas.code is 'UN/LOCODE. From attributes.code.';
comment on column tracking.metro_areas.state_abbr is 'State or province, abbreviated. From attributes.state_abbr.';
comment on column tracking.metro_areas.country_code is 'Country, two letters. From attributes.country_code.';
comment on column tracking.metro_areas.time_zone is 'IANA time zone. From attributes.time_zone.';
comment on column tracking.metro_areas.latitude is 'Latitude in degrees, north positive. From attributes.latitude.';
comment on column tracking.metro_areas.longitude is 'Longitude in degrees, east positive. From attributes.longitude.';
comment on column tracking.metro_areas._observed_at is 'When the source can have known this: start of the request on the source''s clock, or the notification''s own time. A row never goes back behind it. UTC.';
comment on column tracking.metro_areas._first_seen_at is '_observed_at of the first sighting. UTC.';
comment on column tracking.metro_areas._changed_at is '_observed_at of the last material change: any column but our own, time stamps of checking, lists of ids and _unmapped. UTC.';
comment on column tracking.metro_areas._fingerprint is 'Hash of the record as last written; equal hashes mean that nothing has to be written.';
comment on column tracking.metro_areas._deleted_at is 'Tombstone: when the record was found gone at the source; null while it lives. UTC.';
comment on column tracking.metro_areas._sync_run_id is 'The run that last wrote this row; sync_runs in the bookkeeping schema.';
comment on column tracking.metro_areas._unmapped is 'Everything the source sent that has no column, by attribute name; other parts of the record as relationships.<name>, links.<name>, record.<name>; an attribute with a dot in its name as attributes.<name>.';
comment on column tracking.metro_areas._coercions is 'Values not stored as sent, by column (or _unmapped): why, and the original as JSON text.';
comment on column tracking.metro_areas._digest is 'Hash of the bytes the record was last written from: lets an unchanged record be recognised without parsing. Null until a run records it.';

create table tracking.other_resources (
    resource_type text collate "C" not null,
    resource_id text collate "C" not null,
    _observed_at timestamp with time zone not null,
    _first_seen_at timestamp with time zone not null,
    _changed_at timestamp with time zone not null,
    _fingerprint text collate "C",
    _deleted_at timestamp with time zone,
    _sync_run_id bigint,
    _unmapped jsonb,
    _coercions jsonb,
    _digest text collate "C",
    constraint other_resources_pkey PRIMARY KEY (resource_type, resource_id)
);
comment on table tracking.other_resources is 'One row per resource of a type that has no table of its own, so that nothing is lost.';
comment on column tracking.other_resources.resource_type is 'JSON:API type of a resource that has no table of its own.';
comment on column tracking.other_resources.resource_id is 'The service''s id. Attributes and relationships are in _unmapped.';
comment on column tracking.other_resources._observed_at is 'When the source can have known this: start of the request on the source''s clock, or the notification''s own time. A row never goes back behind it. UTC.';
comment on column tracking.other_resources._first_seen_at is '_observed_at of the first sighting. UTC.';
comment on column tracking.other_resources._changed_at is '_observed_at of the last material change: any column but our own, time stamps of checking, lists of ids and _unmapped. UTC.';
comment on column tracking.other_resources._fingerprint is 'Hash of the record as last written; equal hashes mean that nothing has to be written.';
comment on column tracking.other_resources._deleted_at is 'Tombstone: when the record was found gone at the source; null while it lives. UTC.';
comment on column tracking.other_resources._sync_run_id is 'The run that last wrote this row; sync_runs in the bookkeeping schema.';
comment on column tracking.other_resources._unmapped is 'Everything the source sent that has no column, by attribute name; other parts of the record as relationships.<name>, links.<name>, record.<name>; an attribute with a dot in its name as attributes.<name>.';
comment on column tracking.other_resources._coercions is 'Values not stored as sent, by column (or _unmapped): why, and the original as JSON text.';
comment on column tracking.other_resources._digest is 'Hash of the bytes the record was last written from: lets an unchanged record be recognised without parsing. Null until a run records it.';

create table tracking.ports (
    port_id text collate "C" not null,
    name text,
    code text,
    state_abbr text,
    city text,
    country_code text,
    time_zone text,
    latitude numeric,
    longitude numeric,
    terminal_ids text[],
    _observed_at timestamp with time zone not null,
    _first_seen_at timestamp with time zone not null,
    _changed_at timestamp with time zone not null,
    _fingerprint text collate "C",
    _deleted_at timestamp with time zone,
    _sync_run_id bigint,
    _unmapped jsonb,
    _coercions jsonb,
    _digest text collate "C",
    constraint ports_pkey PRIMARY KEY (port_id)
);
comment on table tracking.ports is 'One row per seaport.';
comment on column tracking.ports.port_id is 'The service''s id of the port.';
comment on column tracking.ports.name is 'Name. From attributes.name.';
comment on column tracking.ports.code is 'UN/LOCODE. From attributes.code.';
comment on column tracking.ports.state_abbr is 'State or province, abbreviated. From attributes.state_abbr.';
comment on column tracking.ports.city is 'City. From attributes.city.';
comment on column tracking.ports.country_code is 'Country, two letters. From attributes.country_code.';
comment on column tracking.ports.time_zone is 'IANA time zone. From attributes.time_zone.';
comment on column tracking.ports.latitude is 'Latitude in degrees, north positive. From attributes.latitude.';
comment on column tracking.ports.longitude is 'Longitude in degrees, east positive. From attributes.longitude.';
comment on column tracking.ports.terminal_ids is 'Ids of its terminals, sorted. From relationships.terminals.';
comment on column tracking.ports._observed_at is 'When the source can have known this: start of the request on the source''s clock, or the notification''s own time. A row never goes back behind it. UTC.';
comment on column tracking.ports._first_seen_at is '_observed_at of the first sighting. UTC.';
comment on column tracking.ports._changed_at is '_observed_at of the last material change: any column but our own, time stamps of checking, lists of ids and _unmapped. UTC.';
comment on column tracking.ports._fingerprint is 'Hash of the record as last written; equal hashes mean that nothing has to be written.';
comment on column tracking.ports._deleted_at is 'Tombstone: when the record was found gone at the source; null while it lives. UTC.';
comment on column tracking.ports._sync_run_id is 'The run that last wrote this row; sync_runs in the bookkeeping schema.';
comment on column tracking.ports._unmapped is 'Everything the source sent that has no column, by attribute name; other parts of the record as relationships.<name>, links.<name>, record.<name>; an attribute with a dot in its name as attributes.<name>.';
comment on column tracking.ports._coercions is 'Values not stored as sent, by column (or _unmapped): why, and the original as JSON text.';
comment on column tracking.ports._digest is 'Hash of the bytes the record was last written from: lets an unchanged record be recognised without parsing. Null until a run records it.';

create table tracking.rail_terminals (
    rail_terminal_id text collate "C" not null,
    name text,
    nickname text,
    firms_code text,
    city text,
    port_id text collate "C",
    metro_area_id text collate "C",
    _observed_at timestamp with time zone not null,
    _first_seen_at timestamp with time zone not null,
    _changed_at timestamp with time zone not null,
    _fingerprint text collate "C",
    _deleted_at timestamp with time zone,
    _sync_run_id bigint,
    _unmapped jsonb,
    _coercions jsonb,
    _digest text collate "C",
    constraint rail_terminals_pkey PRIMARY KEY (rail_terminal_id)
);
comment on table tracking.rail_terminals is 'One row per rail terminal.';
comment on column tracking.rail_terminals.rail_terminal_id is 'The service''s id of the rail terminal.';
comment on column tracking.rail_terminals.name is 'Name. From attributes.name.';
comment on column tracking.rail_terminals.nickname is 'Short name in daily use. From attributes.nickname.';
comment on column tracking.rail_terminals.firms_code is 'FIRMS code of US Customs. From attributes.firms_code.';
comment on column tracking.rail_terminals.city is 'City. From attributes.city.';
comment on column tracking.rail_terminals.port_id is 'Port it belongs to; ports. From relationships.port.';
comment on column tracking.rail_terminals.metro_area_id is 'Metropolitan area it belongs to; metro_areas. From relationships.metro_area.';
comment on column tracking.rail_terminals._observed_at is 'When the source can have known this: start of the request on the source''s clock, or the notification''s own time. A row never goes back behind it. UTC.';
comment on column tracking.rail_terminals._first_seen_at is '_observed_at of the first sighting. UTC.';
comment on column tracking.rail_terminals._changed_at is '_observed_at of the last material change: any column but our own, time stamps of checking, lists of ids and _unmapped. UTC.';
comment on column tracking.rail_terminals._fingerprint is 'Hash of the record as last written; equal hashes mean that nothing has to be written.';
comment on column tracking.rail_terminals._deleted_at is 'Tombstone: when the record was found gone at the source; null while it lives. UTC.';
comment on column tracking.rail_terminals._sync_run_id is 'The run that last wrote this row; sync_runs in the bookkeeping schema.';
comment on column tracking.rail_terminals._unmapped is 'Everything the source sent that has no column, by attribute name; other parts of the record as relationships.<name>, links.<name>, record.<name>; an attribute with a dot in its name as attributes.<name>.';
comment on column tracking.rail_terminals._coercions is 'Values not stored as sent, by column (or _unmapped): why, and the original as JSON text.';
comment on column tracking.rail_terminals._digest is 'Hash of the bytes the record was last written from: lets an unchanged record be recognised without parsing. Null until a run records it.';

create table tracking.raw_events (
    raw_event_id text collate "C" not null,
    event text,
    original_event text,
    voyage_number text,
    location_name text,
    location_locode text,
    vessel_name text,
    vessel_imo text,
    timezone text,
    timestamp timestamp with time zone,
    actual_at timestamp with time zone,
    estimated_at timestamp with time zone,
    created_at timestamp with time zone,
    actual_on date,
    estimated_on date,
    estimated boolean,
    index integer,
    container_id text collate "C",
    attributes jsonb,
    location_id text collate "C",
    location_type text,
    vessel_id text collate "C",
    _observed_at timestamp with time zone not null,
    _first_seen_at timestamp with time zone not null,
    _changed_at timestamp with time zone not null,
    _fingerprint text collate "C",
    _deleted_at timestamp with time zone,
    _sync_run_id bigint,
    _unmapped jsonb,
    _coercions jsonb,
    _digest text collate "C",
    constraint raw_events_pkey PRIMARY KEY (raw_event_id)
);
CREATE INDEX raw_events_container_id_idx ON tracking.raw_events USING btree (container_id);
comment on table tracking.raw_events is 'One row per event that a carrier told of, unverified, planned ones included. Empty unless TRACKING_RAW_EVENTS is on. The service marks them as deprecated since August 2026.';
comment on column tracking.raw_events.raw_event_id is 'The service''s id of the raw event.';
comment on column tracking.raw_events.event is 'Event in the service''s words. From attributes.event.';
comment on column tracking.raw_events.original_event is 'Event in the carrier''s words. From attributes.original_event.';
comment on column tracking.raw_events.voyage_number is 'Voyage. From attributes.voyage_number.';
comment on column tracking.raw_events.location_name is 'Name of the place. From attributes.location_name.';
comment on column tracking.raw_events.location_locode is 'UN/LOCODE of the place. From attributes.location_locode.';
comment on column tracking.raw_events.vessel_name is 'Name of the vessel. From attributes.vessel_name.';
comment on column tracking.raw_events.vessel_imo is 'IMO number of the vessel. From attributes.vessel_imo.';
comment on column tracking.raw_events.timezone is 'Time zone of the event, IANA; where it is null, timestamp is the local wall time, written as UTC. From attributes.timezone.';
comment on column tracking.raw_events.timestamp is 'When it happened or is expected. UTC. From attributes.timestamp.';
comment on column tracking.raw_events.actual_at is 'Deprecated: see timestamp. UTC. From attributes.actual_at.';
comment on column tracking.raw_events.estimated_at is 'Deprecated: see timestamp. UTC. From attributes.estimated_at.';
comment on column tracking.raw_events.created_at is 'When the service learnt of it. UTC. From attributes.created_at.';
comment on column tracking.raw_events.actual_on is 'Deprecated: see timestamp. From attributes.actual_on.';
comment on column tracking.raw_events.estimated_on is 'Deprecated: see timestamp. From attributes.estimated_on.';
comment on column tracking.raw_events.estimated is 'True for an event that is planned or expected. From attributes.estimated.';
comment on column tracking.raw_events.index is 'Place among the raw events of the container. From attributes.index.';
comment on column tracking.raw_events.container_id is 'Container that was asked for; containers.';
comment on column tracking.raw_events.attributes is 'All attributes as they were sent.';
comment on column tracking.raw_events.location_id is 'Place of the event. From relationships.location.';
comment on column tracking.raw_events.location_type is 'Resource type of the place. From relationships.location.';
comment on column tracking.raw_events.vessel_id is 'Vessel of the event; vessels. From relationships.vessel.';
comment on column tracking.raw_events._observed_at is 'When the source can have known this: start of the request on the source''s clock, or the notification''s own time. A row never goes back behind it. UTC.';
comment on column tracking.raw_events._first_seen_at is '_observed_at of the first sighting. UTC.';
comment on column tracking.raw_events._changed_at is '_observed_at of the last material change: any column but our own, time stamps of checking, lists of ids and _unmapped. UTC.';
comment on column tracking.raw_events._fingerprint is 'Hash of the record as last written; equal hashes mean that nothing has to be written.';
comment on column tracking.raw_events._deleted_at is 'Tombstone: when the record was found gone at the source; null while it lives. UTC.';
comment on column tracking.raw_events._sync_run_id is 'The run that last wrote this row; sync_runs in the bookkeeping schema.';
comment on column tracking.raw_events._unmapped is 'Everything the source sent that has no column, by attribute name; other parts of the record as relationships.<name>, links.<name>, record.<name>; an attribute with a dot in its name as attributes.<name>.';
comment on column tracking.raw_events._coercions is 'Values not stored as sent, by column (or _unmapped): why, and the original as JSON text.';
comment on column tracking.raw_events._digest is 'Hash of the bytes the record was last written from: lets an unchanged record be recognised without parsing. Null until a run records it.';

create table tracking.shipment_history (
    shipment_id text collate "C" not null,
    valid_from timestamp with time zone not null,
    valid_to timestamp with time zone,
    bill_of_lading_number text,
    normalized_number text,
    ref_numbers text[],
    created_at timestamp with time zone,
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
    pol_etd_at timestamp with time zone,
    pol_original_etd_at timestamp with time zone,
    pol_atd_at timestamp with time zone,
    pod_eta_at timestamp with time zone,
    pod_original_eta_at timestamp with time zone,
    pod_ata_at timestamp with time zone,
    destination_eta_at timestamp with time zone,
    destination_original_eta_at timestamp with time zone,
    destination_ata_at timestamp with time zone,
    pol_timezone text,
    pod_timezone text,
    destination_timezone text,
    line_tracking_stopped_at timestamp with time zone,
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
    constraint shipment_history_pkey PRIMARY KEY (shipment_id, valid_from)
);
CREATE UNIQUE INDEX shipment_history_open_idx ON tracking.shipment_history USING btree (shipment_id) WHERE (valid_to IS NULL);
CREATE INDEX shipment_history_without_eta_idx ON tracking.shipment_history USING btree (shipment_id) WHERE (pod_eta_at IS NULL);
comment on table tracking.shipment_history is 'One row per version of a shipment.';
comment on column tracking.shipment_history.shipment_id is 'The service''s id of the shipment.';
comment on column tracking.shipment_history.valid_from is 'When the source can first have known this version (_observed_at). UTC.';
comment on column tracking.shipment_history.valid_to is 'When it was replaced; null for the version that stands. UTC.';
comment on column tracking.shipment_history.bill_of_lading_number is 'Bill of lading number. From attributes.bill_of_lading_number.';
comment on column tracking.shipment_history.normalized_number is 'The shipment''s number in the form used to ask the shipping line. From attributes.normalized_number.';
comment on column tracking.shipment_history.ref_numbers is 'The customer''s reference numbers. From attributes.ref_numbers.';
comment on column tracking.shipment_history.created_at is 'When the service created the shipment. UTC. From attributes.created_at.';
comment on column tracking.shipment_history.tags is 'Tags set at the service. From attributes.tags.';
comment on column tracking.shipment_history.port_of_lading_locode is 'UN/LOCODE of the port of lading. From attributes.port_of_lading_locode.';
comment on column tracking.shipment_history.port_of_lading_name is 'Name of the port of lading. From attributes.port_of_lading_name.';
comment on column tracking.shipment_history.port_of_discharge_locode is 'UN/LOCODE of the port of discharge. From attributes.port_of_discharge_locode.';
comment on column tracking.shipment_history.port_of_discharge_name is 'Name of the port of discharge. From attributes.port_of_discharge_name.';
comment on column tracking.shipment_history.destination_locode is 'UN/LOCODE of the destination. From attributes.destination_locode.';
comment on column tracking.shipment_history.destination_name is 'Name of the destination. From attributes.destination_name.';
comment on column tracking.shipment_history.shipping_line_scac is 'Standard carrier alpha code of the shipping line. From attributes.shipping_line_scac.';
comment on column tracking.shipment_history.shipping_line_name is 'Name of the shipping line. From attributes.shipping_line_name.';
comment on column tracking.shipment_history.shipping_line_short_name is 'Short name of the shipping line. From attributes.shipping_line_short_name.';
comment on column tracking.shipment_history.customer_name is 'Customer the shipment belongs to. From attributes.customer_name.';
comment on column tracking.shipment_history.pod_vessel_name is 'Name of the vessel that arrives at the port of discharge. From attributes.pod_vessel_name.';
comment on column tracking.shipment_history.pod_vessel_imo is 'IMO number of the vessel that arrives at the port of discharge. From attributes.pod_vessel_imo.';
comment on column tracking.shipment_history.pod_voyage_number is 'Voyage number of the vessel that arrives at the port of discharge. From attributes.pod_voyage_number.';
comment on column tracking.shipment_history.pol_etd_at is 'Estimated departure from the port of lading, as the shipping line reports it; depends on the line. UTC; local zone pol_timezone. From attributes.pol_etd_at.';
comment on column tracking.shipment_history.pol_original_etd_at is 'First estimated departure from the port of lading that the line reported. UTC; local zone pol_timezone. From attributes.pol_original_etd_at.';
comment on column tracking.shipment_history.pol_atd_at is 'Actual departure from the port of lading. UTC; local zone pol_timezone. From attributes.pol_atd_at.';
comment on column tracking.shipment_history.pod_eta_at is 'Estimated arrival at the port of discharge. UTC; local zone pod_timezone. From attributes.pod_eta_at.';
comment on column tracking.shipment_history.pod_original_eta_at is 'First estimated arrival at the port of discharge that the line reported. UTC; local zone pod_timezone. From attributes.pod_original_eta_at.';
comment on column tracking.shipment_history.pod_ata_at is 'Actual arrival at the port of discharge. UTC; local zone pod_timezone. From attributes.pod_ata_at.';
comment on column tracking.shipment_history.destination_eta_at is 'Estimated arrival at the destination as the line reports it; for inland rail see containers.ind_eta_at. UTC; local zone destination_timezone. From attributes.destination_eta_at.';
comment on column tracking.shipment_history.destination_original_eta_at is 'First estimated arrival at the destination that the line reported. UTC; local zone destination_timezone. From attributes.destination_original_eta_at.';
comment on column tracking.shipment_history.destination_ata_at is 'Actual arrival at the destination as the line reports it; for inland rail see containers.ind_ata_at. UTC; local zone destination_timezone. From attributes.destination_ata_at.';
comment on column tracking.shipment_history.pol_timezone is 'IANA time zone of the port of lading. From attributes.pol_timezone.';
comment on column tracking.shipment_history.pod_timezone is 'IANA time zone of the port of discharge. From attributes.pod_timezone.';
comment on column tracking.shipment_history.destination_timezone is 'IANA time zone of the destination. From attributes.destination_timezone.';
comment on column tracking.shipment_history.line_tracking_stopped_at is 'When the service stopped asking the shipping line; null while it still asks. UTC. From attributes.line_tracking_stopped_at.';
comment on column tracking.shipment_history.line_tracking_stopped_reason is 'Why the service stopped asking the shipping line. From attributes.line_tracking_stopped_reason.';
comment on column tracking.shipment_history.port_of_lading_id is 'Port of lading; ports. From relationships.port_of_lading.';
comment on column tracking.shipment_history.port_of_discharge_id is 'Port of discharge; ports. From relationships.port_of_discharge.';
comment on column tracking.shipment_history.pod_terminal_id is 'Terminal at the port of discharge; terminals. From relationships.pod_terminal.';
comment on column tracking.shipment_history.destination_id is 'Destination; ports or metro_areas by destination_type. From relationships.destination.';
comment on column tracking.shipment_history.destination_type is 'Resource type that destination_id points to. From relationships.destination.';
comment on column tracking.shipment_history.destination_terminal_id is 'Terminal at the destination; terminals or rail_terminals by destination_terminal_type. From relationships.destination_terminal.';
comment on column tracking.shipment_history.destination_terminal_type is 'Resource type that destination_terminal_id points to. From relationships.destination_terminal.';
comment on column tracking.shipment_history.line_tracking_stopped_by_user_id is 'User of the service who stopped the tracking; null when no user did. From relationships.line_tracking_stopped_by_user.';
comment on column tracking.shipment_history.source is 'Where we learned it: sync or webhook.';
comment on column tracking.shipment_history._sync_run_id is 'The run that wrote this version; sync_runs in the bookkeeping schema.';

create table tracking.shipments (
    shipment_id text collate "C" not null,
    bill_of_lading_number text,
    normalized_number text,
    ref_numbers text[],
    created_at timestamp with time zone,
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
    pol_etd_at timestamp with time zone,
    pol_original_etd_at timestamp with time zone,
    pol_atd_at timestamp with time zone,
    pod_eta_at timestamp with time zone,
    pod_original_eta_at timestamp with time zone,
    pod_ata_at timestamp with time zone,
    destination_eta_at timestamp with time zone,
    destination_original_eta_at timestamp with time zone,
    destination_ata_at timestamp with time zone,
    pol_timezone text,
    pod_timezone text,
    destination_timezone text,
    line_tracking_last_attempted_at timestamp with time zone,
    line_tracking_last_succeeded_at timestamp with time zone,
    line_tracking_stopped_at timestamp with time zone,
    line_tracking_stopped_reason text,
    port_of_lading_id text collate "C",
    port_of_discharge_id text collate "C",
    pod_terminal_id text collate "C",
    destination_id text collate "C",
    destination_type text,
    destination_terminal_id text collate "C",
    destination_terminal_type text,
    line_tracking_stopped_by_user_id text collate "C",
    container_ids text[],
    _observed_at timestamp with time zone not null,
    _first_seen_at timestamp with time zone not null,
    _changed_at timestamp with time zone not null,
    _fingerprint text collate "C",
    _deleted_at timestamp with time zone,
    _sync_run_id bigint,
    _unmapped jsonb,
    _coercions jsonb,
    _digest text collate "C",
    constraint shipments_pkey PRIMARY KEY (shipment_id)
);
CREATE INDEX shipments_bill_of_lading_number_idx ON tracking.shipments USING hash (bill_of_lading_number);
CREATE INDEX shipments_destination_locode_idx ON tracking.shipments USING hash (destination_locode) WHERE (destination_locode IS NOT NULL);
CREATE INDEX shipments_without_original_eta_idx ON tracking.shipments USING btree (shipment_id) WHERE (pod_original_eta_at IS NULL);
comment on table tracking.shipments is 'One row per shipment.';
comment on column tracking.shipments.shipment_id is 'The service''s id of the shipment.';
comment on column tracking.shipments.bill_of_lading_number is 'Bill of lading number. From attributes.bill_of_lading_number.';
comment on column tracking.shipments.normalized_number is 'The shipment''s number in the form used to ask the shipping line. From attributes.normalized_number.';
comment on column tracking.shipments.ref_numbers is 'The customer''s reference numbers. From attributes.ref_numbers.';
comment on column tracking.shipments.created_at is 'When the service created the shipment. UTC. From attributes.created_at.';
comment on column tracking.shipments.tags is 'Tags set at the service. From attributes.tags.';
comment on column tracking.shipments.port_of_lading_locode is 'UN/LOCODE of the port of lading. From attributes.port_of_lading_locode.';
comment on column tracking.shipments.port_of_lading_name is 'Name of the port of lading. From attributes.port_of_lading_name.';
comment on column tracking.shipments.port_of_discharge_locode is 'UN/LOCODE of the port of discharge. From attributes.port_of_discharge_locode.';
comment on column tracking.shipments.port_of_discharge_name is 'Name of the port of discharge. From attributes.port_of_discharge_name.';
comment on column tracking.shipments.destination_locode is 'UN/LOCODE of the destination. From attributes.destination_locode.';
comment on column tracking.shipments.destination_name is 'Name of the destination. From attributes.destination_name.';
comment on column tracking.shipments.shipping_line_scac is 'Standard carrier alpha code of the shipping line. From attributes.shipping_line_scac.';
comment on column tracking.shipments.shipping_line_name is 'Name of the shipping line. From attributes.shipping_line_name.';
comment on column tracking.shipments.shipping_line_short_name is 'Short name of the shipping line. From attributes.shipping_line_short_name.';
comment on column tracking.shipments.customer_name is 'Customer the shipment belongs to. From attributes.customer_name.';
comment on column tracking.shipments.pod_vessel_name is 'Name of the vessel that arrives at the port of discharge. From attributes.pod_vessel_name.';
comment on column tracking.shipments.pod_vessel_imo is 'IMO number of the vessel that arrives at the port of discharge. From attributes.pod_vessel_imo.';
comment on column tracking.shipments.pod_voyage_number is 'Voyage number of the vessel that arrives at the port of discharge. From attributes.pod_voyage_number.';
comment on column tracking.shipments.pol_etd_at is 'Estimated departure from the port of lading, as the shipping line reports it; depends on the line. UTC; local zone pol_timezone. From attributes.pol_etd_at.';
comment on column tracking.shipments.pol_original_etd_at is 'First estimated departure from the port of lading that the line reported. UTC; local zone pol_timezone. From attributes.pol_original_etd_at.';
comment on column tracking.shipments.pol_atd_at is 'Actual departure from the port of lading. UTC; local zone pol_timezone. From attributes.pol_atd_at.';
comment on column tracking.shipments.pod_eta_at is 'Estimated arrival at the port of discharge. UTC; local zone pod_timezone. From attributes.pod_eta_at.';
comment on column tracking.shipments.pod_original_eta_at is 'First estimated arrival at the port of discharge that the line reported. UTC; local zone pod_timezone. From attributes.pod_original_eta_at.';
comment on column tracking.shipments.pod_ata_at is 'Actual arrival at the port of discharge. UTC; local zone pod_timezone. From attributes.pod_ata_at.';
comment on column tracking.shipments.destination_eta_at is 'Estimated arrival at the destination as the line reports it; for inland rail see containers.ind_eta_at. UTC; local zone destination_timezone. From attributes.destination_eta_at.';
comment on column tracking.shipments.destination_original_eta_at is 'First estimated arrival at the destination that the line reported. UTC; local zone destination_timezone. From attributes.destination_original_eta_at.';
comment on column tracking.shipments.destination_ata_at is 'Actual arrival at the destination as the line reports it; for inland rail see containers.ind_ata_at. UTC; local zone destination_timezone. From attributes.destination_ata_at.';
comment on column tracking.shipments.pol_timezone is 'IANA time zone of the port of lading. From attributes.pol_timezone.';
comment on column tracking.shipments.pod_timezone is 'IANA time zone of the port of discharge. From attributes.pod_timezone.';
comment on column tracking.shipments.destination_timezone is 'IANA time zone of the destination. From attributes.destination_timezone.';
comment on column tracking.shipments.line_tracking_last_attempted_at is 'Last attempt of the service to ask the shipping line. UTC. From attributes.line_tracking_last_attempted_at.';
comment on column tracking.shipments.line_tracking_last_succeeded_at is 'Last successful answer of the shipping line. UTC. From attributes.line_tracking_last_succeeded_at.';
comment on column tracking.shipments.line_tracking_stopped_at is 'When the service stopped asking the shipping line; null while it still asks. UTC. From attributes.line_tracking_stopped_at.';
comment on column tracking.shipments.line_tracking_stopped_reason is 'Why the service stopped asking the shipping line. From attributes.line_tracking_stopped_reason.';
comment on column tracking.shipments.port_of_lading_id is 'Port of lading; ports. From relationships.port_of_lading.';
comment on column tracking.shipments.port_of_discharge_id is 'Port of discharge; ports. From relationships.port_of_discharge.';
comment on column tracking.shipments.pod_terminal_id is 'Terminal at the port of discharge; terminals. From relationships.pod_terminal.';
comment on column tracking.shipments.destination_id is 'Destination; ports or metro_areas by destination_type. From relationships.destination.';
comment on column tracking.shipments.destination_type is 'Resource type that destination_id points to. From relationships.destination.';
comment on column tracking.shipments.destination_terminal_id is 'Terminal at the destination; terminals or rail_terminals by destination_terminal_type. From relationships.destination_terminal.';
comment on column tracking.shipments.destination_terminal_type is 'Resource type that destination_terminal_id points to. From relationships.destination_terminal.';
comment on column tracking.shipments.line_tracking_stopped_by_user_id is 'User of the service who stopped the tracking; null when no user did. From relationships.line_tracking_stopped_by_user.';
comment on column tracking.shipments.container_ids is 'Ids of the shipment''s containers. From relationships.containers.';
comment on column tracking.shipments._observed_at is 'When the source can have known this: start of the request on the source''s clock, or the notification''s own time. A row never goes back behind it. UTC.';
comment on column tracking.shipments._first_seen_at is '_observed_at of the first sighting. UTC.';
comment on column tracking.shipments._changed_at is '_observed_at of the last material change: any column but our own, time stamps of checking, lists of ids and _unmapped. UTC.';
comment on column tracking.shipments._fingerprint is 'Hash of the record as last written; equal hashes mean that nothing has to be written.';
comment on column tracking.shipments._deleted_at is 'Tombstone: when the record was found gone at the source; null while it lives. UTC.';
comment on column tracking.shipments._sync_run_id is 'The run that last wrote this row; sync_runs in the bookkeeping schema.';
comment on column tracking.shipments._unmapped is 'Everything the source sent that has no column, by attribute name; other parts of the record as relationships.<name>, links.<name>, record.<name>; an attribute with a dot in its name as attributes.<name>.';
comment on column tracking.shipments._coercions is 'Values not stored as sent, by column (or _unmapped): why, and the original as JSON text.';
comment on column tracking.shipments._digest is 'Hash of the bytes the record was last written from: lets an unchanged record be recognised without parsing. Null until a run records it.';

create table tracking.terminals (
    terminal_id text collate "C" not null,
    name text,
    nickname text,
    firms_code text,
    smdg_code text,
    bic_facility_code text,
    street text,
    city text,
    state text,
    state_abbr text,
    zip text,
    country text,
    facility_type text,
    provided_data jsonb,
    port_id text collate "C",
    _observed_at timestamp with time zone not null,
    _first_seen_at timestamp with time zone not null,
    _changed_at timestamp with time zone not null,
    _fingerprint text collate "C",
    _deleted_at timestamp with time zone,
    _sync_run_id bigint,
    _unmapped jsonb,
    _coercions jsonb,
    _digest text collate "C",
    constraint terminals_pkey PRIMARY KEY (terminal_id)
);
comment on table tracking.terminals is 'One row per terminal: marine ones, and rail ramps that the service lists as terminals.';
comment on column tracking.terminals.terminal_id is 'The service''s id of the terminal.';
comment on column tracking.terminals.name is 'Name. From attributes.name.';
comment on column tracking.terminals.nickname is 'Short name in daily use. From attributes.nickname.';
comment on column tracking.terminals.firms_code is 'FIRMS code of US Customs, or sublocation code. From attributes.firms_code.';
comment on column tracking.terminals.smdg_code is 'SMDG terminal code. From attributes.smdg_code.';
comment on column tracking.terminals.bic_facility_code is 'BIC facility code. From attributes.bic_facility_code.';
comment on column tracking.terminals.street is 'Street. From attributes.street.';
comment on column tracking.terminals.city is 'City. From attributes.city.';
comment on column tracking.terminals.state is 'State or province. From attributes.state.';
comment on column tracking.terminals.state_abbr is 'State or province, abbreviated. From attributes.state_abbr.';
comment on column tracking.terminals.zip is 'Postal code. From attributes.zip.';
comment on column tracking.terminals.country is 'Country. From attributes.country.';
comment on column tracking.terminals.facility_type is 'ocean_terminal or rail; other values are kept. From attributes.facility_type.';
comment on column tracking.terminals.provided_data is 'What the terminal gives the service at all, as sent: by attribute of a container true or false, and notes. False for pickup_lfd: no last free day can come from it. From attributes.provided_data.';
comment on column tracking.terminals.port_id is 'Port it belongs to; ports. From relationships.port.';
comment on column tracking.terminals._observed_at is 'When the source can have known this: start of the request on the source''s clock, or the notification''s own time. A row never goes back behind it. UTC.';
comment on column tracking.terminals._first_seen_at is '_observed_at of the first sighting. UTC.';
comment on column tracking.terminals._changed_at is '_observed_at of the last material change: any column but our own, time stamps of checking, lists of ids and _unmapped. UTC.';
comment on column tracking.terminals._fingerprint is 'Hash of the record as last written; equal hashes mean that nothing has to be written.';
comment on column tracking.terminals._deleted_at is 'Tombstone: when the record was found gone at the source; null while it lives. UTC.';
comment on column tracking.terminals._sync_run_id is 'The run that last wrote this row; sync_runs in the bookkeeping schema.';
comment on column tracking.terminals._unmapped is 'Everything the source sent that has no column, by attribute name; other parts of the record as relationships.<name>, links.<name>, record.<name>; an attribute with a dot in its name as attributes.<name>.';
comment on column tracking.terminals._coercions is 'Values not stored as sent, by column (or _unmapped): why, and the original as JSON text.';
comment on column tracking.terminals._digest is 'Hash of the bytes the record was last written from: lets an unchanged record be recognised without parsing. Null until a run records it.';

create table tracking.tracking_requests (
    tracking_request_id text collate "C" not null,
    request_number text,
    request_type text,
    scac text,
    ref_numbers text[],
    created_at timestamp with time zone,
    updated_at timestamp with time zone,
    status text,
    failed_reason text,
    is_retrying boolean,
    retry_count integer,
    tags text[],
    shipment_tags text[],
    tracked_object_id text collate "C",
    tracked_object_type text,
    customer_id text collate "C",
    customer_type text,
    user_id text collate "C",
    _observed_at timestamp with time zone not null,
    _first_seen_at timestamp with time zone not null,
    _changed_at timestamp with time zone not null,
    _fingerprint text collate "C",
    _deleted_at timestamp with time zone,
    _sync_run_id bigint,
    _unmapped jsonb,
    _coercions jsonb,
    _digest text collate "C",
    constraint tracking_requests_pkey PRIMARY KEY (tracking_request_id)
);
CREATE INDEX tracking_requests_tracked_object_id_idx ON tracking.tracking_requests USING btree (tracked_object_id);
comment on table tracking.tracking_requests is 'One row per tracking request.';
comment on column tracking.tracking_requests.tracking_request_id is 'The service''s id of the tracking request.';
comment on column tracking.tracking_requests.request_number is 'The number to be tracked. From attributes.request_number.';
comment on column tracking.tracking_requests.request_type is 'What kind of number it is: bill_of_lading, booking_number, container; other values are kept. From attributes.request_type.';
comment on column tracking.tracking_requests.scac is 'Standard carrier alpha code of the shipping line that was asked. From attributes.scac.';
comment on column tracking.tracking_requests.ref_numbers is 'The customer''s reference numbers. From attributes.ref_numbers.';
comment on column tracking.tracking_requests.created_at is 'When it was made. UTC. From attributes.created_at.';
comment on column tracking.tracking_requests.updated_at is 'When it last changed. UTC. From attributes.updated_at.';
comment on column tracking.tracking_requests.status is 'pending, awaiting_manifest, created, failed, tracking_stopped; other values are kept. From attributes.status.';
comment on column tracking.tracking_requests.failed_reason is 'Why it failed; null when it did not. From attributes.failed_reason.';
comment on column tracking.tracking_requests.is_retrying is 'Whether the service tries again. From attributes.is_retrying.';
comment on column tracking.tracking_requests.retry_count is 'How often the service has tried. Changes with every try: no material change. From attributes.retry_count.';
comment on column tracking.tracking_requests.tags is 'Tags of the request. From attributes.tags.';
comment on column tracking.tracking_requests.shipment_tags is 'Tags for the shipment that it becomes. From attributes.shipment_tags.';
comment on column tracking.tracking_requests.tracked_object_id is 'What it became; shipments when tracked_object_type is shipment. From relationships.tracked_object.';
comment on column tracking.tracking_requests.tracked_object_type is 'Resource type that tracked_object_id points to. From relationships.tracked_object.';
comment on column tracking.tracking_requests.customer_id is 'The service''s id of the customer it was made for. From relationships.customer.';
comment on column tracking.tracking_requests.customer_type is 'Resource type that customer_id points to. From relationships.customer.';
comment on column tracking.tracking_requests.user_id is 'The service''s id of the user who made it. From relationships.user.';
comment on column tracking.tracking_requests._observed_at is 'When the source can have known this: start of the request on the source''s clock, or the notification''s own time. A row never goes back behind it. UTC.';
comment on column tracking.tracking_requests._first_seen_at is '_observed_at of the first sighting. UTC.';
comment on column tracking.tracking_requests._changed_at is '_observed_at of the last material change: any column but our own, time stamps of checking, lists of ids and _unmapped. UTC.';
comment on column tracking.tracking_requests._fingerprint is 'Hash of the record as last written; equal hashes mean that nothing has to be written.';
comment on column tracking.tracking_requests._deleted_at is 'Tombstone: when the record was found gone at the source; null while it lives. UTC.';
comment on column tracking.tracking_requests._sync_run_id is 'The run that last wrote this row; sync_runs in the bookkeeping schema.';
comment on column tracking.tracking_requests._unmapped is 'Everything the source sent that has no column, by attribute name; other parts of the record as relationships.<name>, links.<name>, record.<name>; an attribute with a dot in its name as attributes.<name>.';
comment on column tracking.tracking_requests._coercions is 'Values not stored as sent, by column (or _unmapped): why, and the original as JSON text.';
comment on column tracking.tracking_requests._digest is 'Hash of the bytes the record was last written from: lets an unchanged record be recognised without parsing. Null until a run records it.';

create table tracking.transport_events (
    container_id text collate "C" not null,
    transport_event_id text collate "C" not null,
    event text,
    voyage_number text,
    timestamp timestamp with time zone,
    timezone text,
    location_locode text,
    created_at timestamp with time zone,
    data_source text,
    invalidated_at timestamp with time zone,
    value text,
    value_timestamp timestamp with time zone,
    shipment_id text collate "C",
    location_id text collate "C",
    location_type text,
    vessel_id text collate "C",
    terminal_id text collate "C",
    terminal_type text,
    source_event_id text collate "C",
    previous_version_id text collate "C",
    is_estimated boolean,
    _observed_at timestamp with time zone not null,
    _first_seen_at timestamp with time zone not null,
    _changed_at timestamp with time zone not null,
    _fingerprint text collate "C",
    _deleted_at timestamp with time zone,
    _sync_run_id bigint,
    _unmapped jsonb,
    _coercions jsonb,
    _digest text collate "C",
    constraint transport_events_pkey PRIMARY KEY (container_id, transport_event_id)
);
CREATE INDEX transport_events_feeders_idx ON tracking.transport_events USING btree (container_id) WHERE (event = ANY (ARRAY['container.transport.feeder_arrived'::text, 'container.transport.feeder_discharged'::text, 'container.transport.feeder_loaded'::text, 'container.transport.feeder_departed'::text]));
CREATE INDEX transport_events_milestones_idx ON tracking.transport_events USING btree (container_id) WHERE (event = ANY (ARRAY['container.transport.empty_out'::text, 'container.transport.full_in'::text, 'container.transport.vessel_loaded'::text, 'container.transport.vessel_berthed'::text, 'container.transport.available'::text, 'container.transport.delivered'::text]));
CREATE INDEX transport_events_transport_event_id_idx ON tracking.transport_events USING btree (transport_event_id);
CREATE INDEX transport_events_transshipments_idx ON tracking.transport_events USING btree (container_id) WHERE (event = ANY (ARRAY['container.transport.transshipment_arrived'::text, 'container.transport.transshipment_discharged'::text, 'container.transport.transshipment_loaded'::text, 'container.transport.transshipment_departed'::text, 'container.transport.feeder_arrived'::text, 'container.transport.feeder_discharged'::text, 'container.transport.feeder_loaded'::text, 'container.transport.feeder_departed'::text]));
comment on table tracking.transport_events is 'One row per transport event of a container. Withdrawn ones are tombstoned, never deleted.';
comment on column tracking.transport_events.container_id is 'Container the transport event belongs to. From relationships.container, or from the request.';
comment on column tracking.transport_events.transport_event_id is 'The service''s id of the transport event.';
comment on column tracking.transport_events.event is 'Kind of transport event, for example container.transport.vessel_arrived; unknown names are kept. From attributes.event.';
comment on column tracking.transport_events.voyage_number is 'Voyage number. From attributes.voyage_number.';
comment on column tracking.transport_events.timestamp is 'When it happened or is expected. UTC; local zone timezone. From attributes.timestamp.';
comment on column tracking.transport_events.timezone is 'IANA time zone of the place; null on some, most often estimated ones. From attributes.timezone.';
comment on column tracking.transport_events.location_locode is 'UN/LOCODE of the place; null on some, most often estimated ones. From attributes.location_locode.';
comment on column tracking.transport_events.created_at is 'When the service recorded it. UTC. From attributes.created_at.';
comment on column tracking.transport_events.data_source is 'shipping_line, terminal, ais, rail, t49_operations_team, user_input; other values are kept. From attributes.data_source.';
comment on column tracking.transport_events.invalidated_at is 'When the service found that it is not true; null while it holds. UTC. From attributes.invalidated_at.';
comment on column tracking.transport_events.value is 'What a *.changed event says the thing became: the new last free day or appointment, as sent. From attributes.value.';
comment on column tracking.transport_events.value_timestamp is 'value as an instant, as the service says it. UTC; local zone timezone. From attributes.value_timestamp.';
comment on column tracking.transport_events.shipment_id is 'Shipment; shipments. From relationships.shipment.';
comment on column tracking.transport_events.location_id is 'Place; ports or metro_areas by location_type. From relationships.location.';
comment on column tracking.transport_events.location_type is 'Resource type that location_id points to. From relationships.location.';
comment on column tracking.transport_events.vessel_id is 'Vessel; vessels. From relationships.vessel.';
comment on column tracking.transport_events.terminal_id is 'Terminal; terminals or rail_terminals by terminal_type. From relationships.terminal.';
comment on column tracking.transport_events.terminal_type is 'Resource type that terminal_id points to. From relationships.terminal.';
comment on column tracking.transport_events.source_event_id is 'The service''s id of the raw event it was made of. From relationships.source_event.';
comment on column tracking.transport_events.previous_version_id is 'Transport event that it replaces; transport_events. From relationships.previous_version.';
comment on column tracking.transport_events.is_estimated is 'True when it is expected and has not happened: the name of the event contains .estimated.';
comment on column tracking.transport_events._observed_at is 'When the source can have known this: start of the request on the source''s clock, or the notification''s own time. A row never goes back behind it. UTC.';
comment on column tracking.transport_events._first_seen_at is '_observed_at of the first sighting. UTC.';
comment on column tracking.transport_events._changed_at is '_observed_at of the last material change: any column but our own, time stamps of checking, lists of ids and _unmapped. UTC.';
comment on column tracking.transport_events._fingerprint is 'Hash of the record as last written; equal hashes mean that nothing has to be written.';
comment on column tracking.transport_events._deleted_at is 'Tombstone: when the record was found gone at the source; null while it lives. UTC.';
comment on column tracking.transport_events._sync_run_id is 'The run that last wrote this row; sync_runs in the bookkeeping schema.';
comment on column tracking.transport_events._unmapped is 'Everything the source sent that has no column, by attribute name; other parts of the record as relationships.<name>, links.<name>, record.<name>; an attribute with a dot in its name as attributes.<name>.';
comment on column tracking.transport_events._coercions is 'Values not stored as sent, by column (or _unmapped): why, and the original as JSON text.';
comment on column tracking.transport_events._digest is 'Hash of the bytes the record was last written from: lets an unchanged record be recognised without parsing. Null until a run records it.';

create table tracking.vessel_positions (
    vessel_id text collate "C" not null,
    position_at timestamp with time zone not null,
    latitude numeric,
    longitude numeric,
    heading numeric,
    is_estimated boolean,
    _first_seen_at timestamp with time zone not null,
    _sync_run_id bigint,
    constraint vessel_positions_pkey PRIMARY KEY (vessel_id, position_at)
);
comment on table tracking.vessel_positions is 'One row per vessel and instant; filled only when positions are asked for (TRACKING_VESSEL_POSITIONS).';
comment on column tracking.vessel_positions.vessel_id is 'Vessel; vessels.';
comment on column tracking.vessel_positions.position_at is 'When the vessel was there. UTC. From positions[].timestamp.';
comment on column tracking.vessel_positions.latitude is 'Latitude in degrees. From positions[].latitude.';
comment on column tracking.vessel_positions.longitude is 'Longitude in degrees. From positions[].longitude.';
comment on column tracking.vessel_positions.heading is 'Heading in degrees; null when not known. From positions[].heading.';
comment on column tracking.vessel_positions.is_estimated is 'True for an estimated position. From positions[].estimated.';
comment on column tracking.vessel_positions._first_seen_at is 'When we first saw the position. UTC.';
comment on column tracking.vessel_positions._sync_run_id is 'The run that wrote this row; sync_runs in the bookkeeping schema.';

create table tracking.vessels (
    vessel_id text collate "C" not null,
    name text,
    imo text,
    mmsi text,
    latitude numeric,
    longitude numeric,
    nautical_speed_knots numeric,
    navigational_heading_degrees numeric,
    position_timestamp timestamp with time zone,
    _observed_at timestamp with time zone not null,
    _first_seen_at timestamp with time zone not null,
    _changed_at timestamp with time zone not null,
    _fingerprint text collate "C",
    _deleted_at timestamp with time zone,
    _sync_run_id bigint,
    _unmapped jsonb,
    _coercions jsonb,
    _digest text collate "C",
    constraint vessels_pkey PRIMARY KEY (vessel_id)
);
comment on table tracking.vessels is 'One row per vessel, with the position it had when it was last read: once, and with every sync only where TRACKING_VESSEL_POSITIONS is true.';
comment on column tracking.vessels.vessel_id is 'The service''s id of the vessel.';
comment on column tracking.vessels.name is 'Name. From attributes.name.';
comment on column tracking.vessels.imo is 'IMO number. From attributes.imo.';
comment on column tracking.vessels.mmsi is 'Maritime mobile service identity. From attributes.mmsi.';
comment on column tracking.vessels.latitude is 'Latitude in degrees when it was last read, north positive. From attributes.latitude.';
comment on column tracking.vessels.longitude is 'Longitude in degrees when it was last read, east positive. From attributes.longitude.';
comment on column tracking.vessels.nautical_speed_knots is 'Speed in knots. From attributes.nautical_speed_knots.';
comment on column tracking.vessels.navigational_heading_degrees is 'Heading in degrees: 0 north, 90 east. From attributes.navigational_heading_degrees.';
comment on column tracking.vessels.position_timestamp is 'When the position was recorded. UTC. From attributes.position_timestamp.';
comment on column tracking.vessels._observed_at is 'When the source can have known this: start of the request on the source''s clock, or the notification''s own time. A row never goes back behind it. UTC.';
comment on column tracking.vessels._first_seen_at is '_observed_at of the first sighting. UTC.';
comment on column tracking.vessels._changed_at is '_observed_at of the last material change: any column but our own, time stamps of checking, lists of ids and _unmapped. UTC.';
comment on column tracking.vessels._fingerprint is 'Hash of the record as last written; equal hashes mean that nothing has to be written.';
comment on column tracking.vessels._deleted_at is 'Tombstone: when the record was found gone at the source; null while it lives. UTC.';
comment on column tracking.vessels._sync_run_id is 'The run that last wrote this row; sync_runs in the bookkeeping schema.';
comment on column tracking.vessels._unmapped is 'Everything the source sent that has no column, by attribute name; other parts of the record as relationships.<name>, links.<name>, record.<name>; an attribute with a dot in its name as attributes.<name>.';
comment on column tracking.vessels._coercions is 'Values not stored as sent, by column (or _unmapped): why, and the original as JSON text.';
comment on column tracking.vessels._digest is 'Hash of the bytes the record was last written from: lets an unchanged record be recognised without parsing. Null until a run records it.';

create table tracking.webhook_event_categories (
    webhook_event_category_id text collate "C" not null,
    name text,
    events jsonb,
    _observed_at timestamp with time zone not null,
    _first_seen_at timestamp with time zone not null,
    _changed_at timestamp with time zone not null,
    _fingerprint text collate "C",
    _deleted_at timestamp with time zone,
    _sync_run_id bigint,
    _unmapped jsonb,
    _coercions jsonb,
    _digest text collate "C",
    constraint webhook_event_categories_pkey PRIMARY KEY (webhook_event_category_id)
);
comment on table tracking.webhook_event_categories is 'One row per category of events that a webhook can subscribe to.';
comment on column tracking.webhook_event_categories.webhook_event_category_id is 'Slug of the category.';
comment on column tracking.webhook_event_categories.name is 'Name. From attributes.name.';
comment on column tracking.webhook_event_categories.events is 'Events of the category that a webhook can subscribe to: name and description. From attributes.events.';
comment on column tracking.webhook_event_categories._observed_at is 'When the source can have known this: start of the request on the source''s clock, or the notification''s own time. A row never goes back behind it. UTC.';
comment on column tracking.webhook_event_categories._first_seen_at is '_observed_at of the first sighting. UTC.';
comment on column tracking.webhook_event_categories._changed_at is '_observed_at of the last material change: any column but our own, time stamps of checking, lists of ids and _unmapped. UTC.';
comment on column tracking.webhook_event_categories._fingerprint is 'Hash of the record as last written; equal hashes mean that nothing has to be written.';
comment on column tracking.webhook_event_categories._deleted_at is 'Tombstone: when the record was found gone at the source; null while it lives. UTC.';
comment on column tracking.webhook_event_categories._sync_run_id is 'The run that last wrote this row; sync_runs in the bookkeeping schema.';
comment on column tracking.webhook_event_categories._unmapped is 'Everything the source sent that has no column, by attribute name; other parts of the record as relationships.<name>, links.<name>, record.<name>; an attribute with a dot in its name as attributes.<name>.';
comment on column tracking.webhook_event_categories._coercions is 'Values not stored as sent, by column (or _unmapped): why, and the original as JSON text.';
comment on column tracking.webhook_event_categories._digest is 'Hash of the bytes the record was last written from: lets an unchanged record be recognised without parsing. Null until a run records it.';

create schema tracking_analytics;

comment on schema tracking_analytics is 'Views that answer questions about shipments and containers.';

create table tracking_analytics.dd_invoices (
    invoice_number text not null,
    line_number integer not null,
    issuer text not null,
    charge text not null,
    container_number text not null,
    bill_of_lading_number text,
    charged_from_on date not null,
    charged_to_on date not null,
    amount numeric not null,
    currency_code text not null,
    daily_rate numeric,
    issued_on date,
    due_on date,
    port_of_discharge text,
    billed_because text,
    free_days integer,
    free_from_on date,
    free_to_on date,
    available_on date,
    rule_reference text,
    dispute_contact text,
    dispute_within text,
    certification text,
    note text,
    dispute_url text,
    paid_amount numeric,
    paid_on date,
    constraint dd_invoices_charge_is_known CHECK ((charge = ANY (ARRAY['demurrage'::text, 'storage'::text, 'detention'::text]))),
    constraint dd_invoices_days_are_in_order CHECK ((charged_to_on >= charged_from_on)),
    constraint dd_invoices_paid_amount_is_of_a_claim CHECK (((paid_amount >= (0)::numeric) AND ((amount > (0)::numeric) OR (paid_amount = (0)::numeric)))),
    constraint dd_invoices_paid_on_has_an_amount CHECK (((paid_on IS NULL) OR (paid_amount IS NOT NULL))),
    constraint dd_invoices_pkey PRIMARY KEY (issuer, invoice_number, line_number)
);
CREATE INDEX dd_invoices_container_number_idx ON tracking_analytics.dd_invoices USING hash (container_number);
comment on table tracking_analytics.dd_invoices is 'Filled by the user, by `tracking-sync invoices import` or SQL: lines of demurrage, storage and detention invoices; invoice_audit lays them beside what was known.';
comment on column tracking_analytics.dd_invoices.invoice_number is 'Number of the invoice.';
comment on column tracking_analytics.dd_invoices.line_number is 'Line of the invoice.';
comment on column tracking_analytics.dd_invoices.issuer is 'Who bills: shipping line, terminal or railway.';
comment on column tracking_analytics.dd_invoices.charge is 'demurrage, storage or detention.';
comment on column tracking_analytics.dd_invoices.container_number is 'Container that is charged for: capital letters and digits alone, as `invoices import` stores it.';
comment on column tracking_analytics.dd_invoices.bill_of_lading_number is 'Bill of lading. 46 CFR 541.6 (a).';
comment on column tracking_analytics.dd_invoices.charged_from_on is 'First day charged. 46 CFR 541.6 (b).';
comment on column tracking_analytics.dd_invoices.charged_to_on is 'Last day charged. 46 CFR 541.6 (b).';
comment on column tracking_analytics.dd_invoices.amount is 'Amount claimed; negative in a credit note. 46 CFR 541.6 (c).';
comment on column tracking_analytics.dd_invoices.currency_code is 'ISO 4217 code of amount and daily_rate.';
comment on column tracking_analytics.dd_invoices.daily_rate is 'Rate for each day, where there is one. 46 CFR 541.6 (c).';
comment on column tracking_analytics.dd_invoices.issued_on is 'Date of the invoice. 46 CFR 541.6 (b).';
comment on column tracking_analytics.dd_invoices.due_on is 'Date it is due. 46 CFR 541.6 (b).';
comment on column tracking_analytics.dd_invoices.port_of_discharge is 'Port of discharge. 46 CFR 541.6 (a).';
comment on column tracking_analytics.dd_invoices.billed_because is 'Why the billed party is the one to pay. 46 CFR 541.6 (a).';
comment on column tracking_analytics.dd_invoices.free_days is 'Free days allowed. 46 CFR 541.6 (b).';
comment on column tracking_analytics.dd_invoices.free_from_on is 'First day of free time. 46 CFR 541.6 (b).';
comment on column tracking_analytics.dd_invoices.free_to_on is 'Last day of free time. 46 CFR 541.6 (b).';
comment on column tracking_analytics.dd_invoices.available_on is 'Day the container became available. 46 CFR 541.6 (b).';
comment on column tracking_analytics.dd_invoices.rule_reference is 'Tariff, rule or contract of the rate. 46 CFR 541.6 (c).';
comment on column tracking_analytics.dd_invoices.dispute_contact is 'Whom to ask for mitigation or refund. 46 CFR 541.6 (d).';
comment on column tracking_analytics.dd_invoices.dispute_within is 'Until when that can be asked. 46 CFR 541.6 (d).';
comment on column tracking_analytics.dd_invoices.certification is 'What the issuer certifies. 46 CFR 541.6 (e).';
comment on column tracking_analytics.dd_invoices.note is 'For people.';
comment on column tracking_analytics.dd_invoices.dispute_url is 'Web address, or where a QR code leads to, that says what a dispute needs. 46 CFR 541.6 (d).';
comment on column tracking_analytics.dd_invoices.paid_amount is 'What was paid of the line, in its currency; 0: nothing. Null: not said, and of a credit note, which lowers what is to be paid.';
comment on column tracking_analytics.dd_invoices.paid_on is 'Day of the payment, of several the last. Null: not said.';

create table tracking_analytics.free_time_rules (
    rule_name text collate "C" not null,
    charge text not null,
    shipping_line_scac text,
    terminal text,
    locode text,
    place text,
    equipment_type text,
    equipment_length integer,
    free_days integer,
    counts text not null default 'calendar'::text,
    holiday_calendar text,
    starts_with text not null,
    currency_code text not null,
    valid_from date,
    valid_to date,
    note text,
    reported text not null default 'binds'::text,
    equipment_height text,
    customer text,
    tag text,
    ref text,
    first_day integer not null default 0,
    tier_counts text not null default 'over'::text,
    charged text not null default 'calendar'::text,
    until text not null default 'out'::text,
    valid_by text not null default 'start'::text,
    minimum numeric,
    cap numeric,
    constraint free_time_rules_cap_is_not_negative CHECK ((cap >= (0)::numeric)),
    constraint free_time_rules_charge_is_a_word CHECK ((charge ~ '^[a-z][a-z_]*$'::text)),
    constraint free_time_rules_charged_is_known CHECK ((charged = ANY (ARRAY['calendar'::text, 'working'::text]))),
    constraint free_time_rules_counts_is_known CHECK ((counts = ANY (ARRAY['calendar'::text, 'working'::text]))),
    constraint free_time_rules_first_day_counts_or_not CHECK ((first_day = ANY (ARRAY[0, 1]))),
    constraint free_time_rules_free_days_are_few CHECK (((free_days >= 0) AND (free_days <= 365))),
    constraint free_time_rules_minimum_is_not_negative CHECK ((minimum >= (0)::numeric)),
    constraint free_time_rules_pkey PRIMARY KEY (rule_name),
    constraint free_time_rules_place_is_known CHECK ((place = ANY (ARRAY['port'::text, 'ramp'::text]))),
    constraint free_time_rules_reported_is_known CHECK (((reported = ANY (ARRAY['binds'::text, 'ignored'::text, 'earlier'::text, 'later'::text])) AND ((reported = 'binds'::text) OR (free_days IS NOT NULL)))),
    constraint free_time_rules_starts_with_is_known CHECK ((starts_with = ANY (ARRAY['arrival'::text, 'berth'::text, 'discharge'::text, 'available'::text, 'gate_out'::text]))),
    constraint free_time_rules_starts_with_its_charge CHECK (
CASE
    WHEN (charge = 'detention'::text) THEN (starts_with = 'gate_out'::text)
    WHEN (charge = ANY (ARRAY['demurrage'::text, 'storage'::text])) THEN (starts_with <> 'gate_out'::text)
    ELSE true
END),
    constraint free_time_rules_tier_counts_is_known CHECK ((tier_counts = ANY (ARRAY['over'::text, 'start'::text]))),
    constraint free_time_rules_until_is_known CHECK ((until = ANY (ARRAY['out'::text, 'empty_return'::text]))),
    constraint free_time_rules_valid_by_is_known CHECK ((valid_by = ANY (ARRAY['start'::text, 'departure'::text])))
);
CREATE INDEX free_time_rules_rank_idx ON tracking_analytics.free_time_rules USING btree (charge COLLATE "C", num_nonnulls(terminal, shipping_line_scac, place, locode, equipment_type, equipment_length, equipment_height, customer, tag, ref) DESC, ((ref IS NULL)), ((customer IS NULL)), ((terminal IS NULL)), ((shipping_line_scac IS NULL)), ((locode IS NULL)), valid_from DESC NULLS LAST, rule_name);
comment on table tracking_analytics.free_time_rules is 'Filled by the user, by `tracking-sync rules import` or SQL: who gives how many free days, and in which currency it charges the days after them (free_time_tiers). Of the rules that hold for a container the one that names most counts. Empty: no costs by rule.';
comment on column tracking_analytics.free_time_rules.rule_name is 'Name of the rule, by which answers show it.';
comment on column tracking_analytics.free_time_rules.charge is 'demurrage (the line''s), storage (the terminal''s), detention (the line''s, outside) or another word, as plug_in or chassis: charges run in parallel, each with a rule of its own.';
comment on column tracking_analytics.free_time_rules.shipping_line_scac is 'SCAC of the shipping line it holds for. Null: any.';
comment on column tracking_analytics.free_time_rules.terminal is 'Terminal or rail terminal it holds for: id, FIRMS code, nickname or name. Null: any.';
comment on column tracking_analytics.free_time_rules.locode is 'UN/LOCODE of the port or of the inland ramp it holds for. Null: any.';
comment on column tracking_analytics.free_time_rules.place is 'port or ramp: the stay it holds for. Null: both. Detention has none.';
comment on column tracking_analytics.free_time_rules.equipment_type is 'Equipment it holds for: dry, reefer and so on. Null: any.';
comment on column tracking_analytics.free_time_rules.equipment_length is 'Length it holds for, in feet. Null: any.';
comment on column tracking_analytics.free_time_rules.free_days is 'Free days, of which the day after the start is the first, or the day of the start (first_day). Null: the last free day that the service reports.';
comment on column tracking_analytics.free_time_rules.counts is 'calendar: each day is a free day. working: Saturdays, Sundays and holidays are not counted.';
comment on column tracking_analytics.free_time_rules.holiday_calendar is 'Calendar of holidays and weekends; holidays, working_calendars. Null: that of the place, if any.';
comment on column tracking_analytics.free_time_rules.starts_with is 'Start of the clock. discharge: the start of the stay. arrival, berth: of the vessel at the port, or the start of the stay at the ramp. available: the container is first reported as available there. gate_out: the full container leaves.';
comment on column tracking_analytics.free_time_rules.currency_code is 'ISO 4217 code of its tiers.';
comment on column tracking_analytics.free_time_rules.valid_from is 'First day (see valid_by) that it holds for. Null: no beginning.';
comment on column tracking_analytics.free_time_rules.valid_to is 'Last day (see valid_by) that it holds for. Null: no end.';
comment on column tracking_analytics.free_time_rules.note is 'Where the rule was published; for people.';
comment on column tracking_analytics.free_time_rules.reported is 'What counts where the one who charges reports a last free day. binds: that day. ignored: the day of the rule. earlier, later: the earlier or later of both.';
comment on column tracking_analytics.free_time_rules.equipment_height is 'Height it holds for: standard or high_cube. Null: any.';
comment on column tracking_analytics.free_time_rules.customer is 'Customer of the shipment it holds for. Null: any.';
comment on column tracking_analytics.free_time_rules.tag is 'Tag of the shipment it holds for. Null: any.';
comment on column tracking_analytics.free_time_rules.ref is 'Reference number of the container or shipment it holds for, as the number of a contract. Null: any.';
comment on column tracking_analytics.free_time_rules.first_day is '0: the day after the start is day 1. 1: the day of the start is day 1.';
comment on column tracking_analytics.free_time_rules.tier_counts is 'Days that the tiers count. over: those charged. start: those since the start, free ones too.';
comment on column tracking_analytics.free_time_rules.charged is 'Days over that are charged: calendar, each; working, neither weekends nor holidays.';
comment on column tracking_analytics.free_time_rules.until is 'End of the clock. out: the full container leaves the place. empty_return: the empty is back; one merged clock. Clocks that start with gate_out always end so.';
comment on column tracking_analytics.free_time_rules.valid_by is 'Day that valid_from and valid_to are compared with: start, of the clock; departure, of the vessel from the port of lading.';
comment on column tracking_analytics.free_time_rules.minimum is 'Least total as soon as a day is charged, in the currency of the rule. Null: none.';
comment on column tracking_analytics.free_time_rules.cap is 'Most that the total can be, in the currency of the rule. Null: none.';

create table tracking_analytics.free_time_tiers (
    rule_name text collate "C" not null,
    from_day integer not null,
    daily_rate numeric not null,
    per text not null default 'day'::text,
    constraint free_time_tiers_days_begin_with_one CHECK ((from_day >= 1)),
    constraint free_time_tiers_per_is_known CHECK ((per = ANY (ARRAY['day'::text, 'period'::text]))),
    constraint free_time_tiers_pkey PRIMARY KEY (rule_name, from_day),
    constraint free_time_tiers_rate_is_not_negative CHECK ((daily_rate >= (0)::numeric)),
    constraint free_time_tiers_rule_fkey FOREIGN KEY (rule_name) REFERENCES tracking_analytics.free_time_rules(rule_name) ON DELETE CASCADE
);
comment on table tracking_analytics.free_time_tiers is 'Filled by the user: what a rule charges for each calendar day after the last free day.';
comment on column tracking_analytics.free_time_tiers.rule_name is 'Rule; free_time_rules.';
comment on column tracking_analytics.free_time_tiers.from_day is 'First day that is charged at this rate, up to the next tier of the rule: a day over or a day since the start (tier_counts).';
comment on column tracking_analytics.free_time_tiers.daily_rate is 'Amount for each day, or once for the whole tier (per), in the currency of the rule.';
comment on column tracking_analytics.free_time_tiers.per is 'day: the rate is charged for each day. period: once, when the tier is reached.';

create table tracking_analytics.holidays (
    calendar text collate "C" not null,
    holiday_on date not null,
    name text,
    constraint holidays_pkey PRIMARY KEY (calendar, holiday_on)
);
comment on table tracking_analytics.holidays is 'Filled by the user, by `tracking-sync rules import` or SQL: days that are not working days, holidays of a calendar and closures of a terminal.';
comment on column tracking_analytics.holidays.calendar is 'Name of the calendar, which rules name.';
comment on column tracking_analytics.holidays.holiday_on is 'The day.';
comment on column tracking_analytics.holidays.name is 'What is celebrated; for people.';

create table tracking_analytics.time_zones (
    name text collate "C" not null,
    constraint time_zones_pkey PRIMARY KEY (name)
);
comment on table tracking_analytics.time_zones is 'Time zones this PostgreSQL knows; filled when views are installed, and anew when zone data have changed. A zone that is not here is never converted, so a bad name breaks no view.';
comment on column tracking_analytics.time_zones.name is 'IANA name of the zone, as in pg_timezone_names.';

create table tracking_analytics.working_calendars (
    calendar text collate "C" not null,
    place text not null,
    weekend integer[],
    constraint working_calendars_leave_days_to_work CHECK (((weekend <@ ARRAY[1, 2, 3, 4, 5, 6, 7]) AND (cardinality(weekend) <= 3))),
    constraint working_calendars_pkey PRIMARY KEY (calendar, place)
);
comment on table tracking_analytics.working_calendars is 'Filled by the user, by `tracking-sync rules import` or SQL: weekends, and the places whose holidays and closures a calendar has. Empty: Saturday and Sunday everywhere.';
comment on column tracking_analytics.working_calendars.calendar is 'Name of the calendar, which rules and holidays name.';
comment on column tracking_analytics.working_calendars.place is 'Where it applies, also to rules that do not name it: a UN/LOCODE, or a terminal by id, FIRMS code, nickname or name. Empty text: to rules that name it.';
comment on column tracking_analytics.working_calendars.weekend is 'Days of the week on which nobody works, 1 (Monday) to 7 (Sunday). Null: not said, as in a calendar of closures.';

CREATE OR REPLACE FUNCTION tracking_analytics.as_of()
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN now();

CREATE OR REPLACE FUNCTION tracking_analytics.charge_for(charged_days integer, days_before integer, from_days integer[], daily_rates numeric[], once_rates numeric[], costs_before numeric[], minimum numeric, cap numeric)
 RETURNS numeric
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN ((charged_days > 0) AND ((days_before + charged_days) >= (from_days)[1])) THEN LEAST(GREATEST(((tracking_analytics.cost_up_to((days_before + charged_days), from_days, daily_rates, once_rates, costs_before) - tracking_analytics.cost_up_to(days_before, from_days, daily_rates, once_rates, costs_before)) + CASE WHEN ((days_before >= (from_days)[1]) AND (width_bucket((days_before + 1), from_days) = width_bucket(days_before, from_days))) THEN (once_rates)[width_bucket(days_before, from_days)] ELSE (0)::numeric END), minimum), cap) WHEN ((charged_days = 0) AND (days_before IS NOT NULL)) THEN (0)::numeric ELSE NULL::numeric END;

CREATE OR REPLACE FUNCTION tracking_analytics.cost_up_to(day_number integer, from_days integer[], daily_rates numeric[], once_rates numeric[], costs_before numeric[])
 RETURNS numeric
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN (day_number >= (from_days)[1]) THEN (((costs_before)[width_bucket(day_number, from_days)] + (once_rates)[width_bucket(day_number, from_days)]) + ((daily_rates)[width_bucket(day_number, from_days)] * (((day_number - (from_days)[width_bucket(day_number, from_days)]) + 1))::numeric)) ELSE (0)::numeric END;

CREATE OR REPLACE FUNCTION tracking_analytics.is_other_voyage(imo text, name text, voyage text, other_imo text, other_name text, other_voyage text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (COALESCE(CASE WHEN ((imo IS NOT NULL) AND (other_imo IS NOT NULL)) THEN (imo <> other_imo) ELSE (upper(btrim(name)) <> upper(btrim(other_name))) END, false) OR CASE WHEN (voyage <> other_voyage) THEN (ltrim(upper(btrim(voyage)), '0'::text) <> ltrim(upper(btrim(other_voyage)), '0'::text)) ELSE false END);

create schema tracking_as_of;

comment on schema tracking_as_of is 'The views of the analytics schema again, of what was known at the instant that the setting tracking_sync.as_of of the session names.';

CREATE OR REPLACE FUNCTION tracking_as_of.as_of()
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN COALESCE((NULLIF(current_setting('tracking_sync.as_of'::text, true), ''::text))::timestamp with time zone, now());

create schema tracking_datasync;

comment on schema tracking_datasync is 'Views with the table and column names of the service''s own warehouse export.';

create schema tracking_parts;

comment on schema tracking_parts is 'Views that those of the analytics schema are made of: what is known, journeys, stays, clocks. Not for reports: they change with any version.';

create schema tracking_stored;

comment on schema tracking_stored is 'The large views of the other schemas as they were last stored: for reports on a large account that read everything. Where nothing is stored they are the views themselves. Their ages are in stored_views of the analytics schema.';

create schema tracking_sync;

comment on schema tracking_sync is 'Bookkeeping of tracking-sync: runs, checkpoints, webhook inbox, quarantine. Not for reports.';

create table tracking_sync.absences (
    stream text not null,
    row_key text collate "C" not null,
    missed_passes integer not null,
    first_missed_at timestamp with time zone not null default now(),
    last_missed_at timestamp with time zone not null default now(),
    sync_run_id bigint,
    error text,
    not_before timestamp with time zone,
    constraint absences_pkey PRIMARY KEY (stream, row_key)
);
comment on table tracking_sync.absences is 'One row per live row that complete passes did not show. After two it is asked for by id; a 404 makes it a tombstone.';
comment on column tracking_sync.absences.stream is 'Stream of the row.';
comment on column tracking_sync.absences.row_key is 'Key of the row.';
comment on column tracking_sync.absences.missed_passes is 'Complete passes in a row that did not show it.';
comment on column tracking_sync.absences.first_missed_at is 'End of the first of these passes. UTC.';
comment on column tracking_sync.absences.last_missed_at is 'End of the last of these passes. UTC.';
comment on column tracking_sync.absences.sync_run_id is 'Run of the last of these passes; sync_runs.';
comment on column tracking_sync.absences.error is 'Why asking for it found out nothing; null while it was not asked for.';
comment on column tracking_sync.absences.not_before is 'It is not asked for again before then; null: the next pass that misses it asks. UTC.';

create table tracking_sync.access_tokens (
    token_id text collate "C" not null,
    name text not null,
    secret_hash bytea not null,
    questions text[] not null,
    customer_names text[],
    created_at timestamp with time zone not null default now(),
    expires_at timestamp with time zone not null,
    revoked_at timestamp with time zone,
    uses bigint not null default 0,
    last_used_at timestamp with time zone,
    constraint access_tokens_customer_is_named CHECK ((cardinality(customer_names) > 0)),
    constraint access_tokens_pkey PRIMARY KEY (token_id),
    constraint access_tokens_questions_are_named CHECK ((cardinality(questions) > 0)),
    constraint access_tokens_secret_hash_is_sha256 CHECK ((octet_length(secret_hash) = 32))
);
CREATE UNIQUE INDEX access_tokens_name_key ON tracking_sync.access_tokens USING btree (name) WHERE (revoked_at IS NULL);
comment on table tracking_sync.access_tokens is 'One row per token that lets another program ask questions over HTTP, with its uses.';
comment on column tracking_sync.access_tokens.token_id is 'A part of the text of the token by which it is looked up; opens nothing.';
comment on column tracking_sync.access_tokens.name is 'Name that a person gave it. Only one token that is not revoked has it.';
comment on column tracking_sync.access_tokens.secret_hash is 'SHA-256 of the text of the token. The text itself is nowhere.';
comment on column tracking_sync.access_tokens.questions is 'Names of the questions that it may ask.';
comment on column tracking_sync.access_tokens.customer_names is 'Names of the customer whose rows it reads, by a role of that customer. Null: every row.';
comment on column tracking_sync.access_tokens.created_at is 'When it was created. UTC.';
comment on column tracking_sync.access_tokens.expires_at is 'From when on it opens nothing. UTC.';
comment on column tracking_sync.access_tokens.revoked_at is 'When it was revoked. UTC. Null: it was not.';
comment on column tracking_sync.access_tokens.uses is 'How many requests it opened. Written once a minute at most; a killed process loses its last.';
comment on column tracking_sync.access_tokens.last_used_at is 'When it last opened a request, as of the last write. UTC. Null: never.';

create table tracking_sync.alert_digests (
    digest_on date not null,
    made_at timestamp with time zone not null,
    opened bigint not null,
    closed bigint not null,
    open bigint not null,
    constraint alert_digests_pkey PRIMARY KEY (digest_on)
);
comment on table tracking_sync.alert_digests is 'One row per day whose digest of exceptions was made, also where there was nothing to tell.';
comment on column tracking_sync.alert_digests.digest_on is 'Local day, in TRACKING_CRON_TIME_ZONE.';
comment on column tracking_sync.alert_digests.made_at is 'When it was made. UTC.';
comment on column tracking_sync.alert_digests.opened is 'Exceptions opened since the digest before.';
comment on column tracking_sync.alert_digests.closed is 'Exceptions closed since the digest before.';
comment on column tracking_sync.alert_digests.open is 'Exceptions open when it was made.';

create table tracking_sync.alert_messages (
    message_id uuid not null default gen_random_uuid(),
    channel text not null,
    event text not null,
    alert_id bigint,
    digest_on date,
    content jsonb not null,
    state text not null default 'waiting'::text,
    attempts integer not null default 0,
    created_at timestamp with time zone not null,
    next_attempt_at timestamp with time zone not null,
    claimed_at timestamp with time zone,
    sent_at timestamp with time zone,
    error text,
    constraint alert_messages_alert_id_fkey FOREIGN KEY (alert_id) REFERENCES tracking_sync.alerts(alert_id) ON DELETE CASCADE,
    constraint alert_messages_alert_is_told_once UNIQUE (channel, alert_id, event),
    constraint alert_messages_digest_is_sent_once UNIQUE (channel, digest_on),
    constraint alert_messages_digest_on_fkey FOREIGN KEY (digest_on) REFERENCES tracking_sync.alert_digests(digest_on) ON DELETE CASCADE,
    constraint alert_messages_event_check CHECK ((event = ANY (ARRAY['opened'::text, 'closed'::text, 'digest'::text]))),
    constraint alert_messages_pkey PRIMARY KEY (message_id),
    constraint alert_messages_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'sending'::text, 'sent'::text, 'in_doubt'::text, 'given_up'::text])))
);
CREATE INDEX alert_messages_alert_id_idx ON tracking_sync.alert_messages USING btree (alert_id);
CREATE INDEX alert_messages_unsent_idx ON tracking_sync.alert_messages USING btree (channel, next_attempt_at) WHERE (state = ANY (ARRAY['waiting'::text, 'sending'::text]));
comment on table tracking_sync.alert_messages is 'One row per message and channel: what is to be sent, and what became of it.';
comment on column tracking_sync.alert_messages.message_id is 'Stands in the message, so that a receiver can tell one from another.';
comment on column tracking_sync.alert_messages.channel is 'webhook, slack, teams or mail.';
comment on column tracking_sync.alert_messages.event is 'opened or closed: of one alert. digest: of a day.';
comment on column tracking_sync.alert_messages.alert_id is 'Alert it is about; alerts.';
comment on column tracking_sync.alert_messages.digest_on is 'Day of the digest; alert_digests.';
comment on column tracking_sync.alert_messages.content is 'What it says, before it takes the form of its channel.';
comment on column tracking_sync.alert_messages.state is 'waiting: to be sent. sending: a process sends it. sent: the receiver took it. in_doubt: it may have arrived, and is not sent again. given_up: refused too often.';
comment on column tracking_sync.alert_messages.attempts is 'Attempts so far.';
comment on column tracking_sync.alert_messages.created_at is 'When it was made. UTC.';
comment on column tracking_sync.alert_messages.next_attempt_at is 'Not before this instant. UTC.';
comment on column tracking_sync.alert_messages.claimed_at is 'When the last attempt began. UTC.';
comment on column tracking_sync.alert_messages.sent_at is 'When the receiver took it. UTC.';
comment on column tracking_sync.alert_messages.error is 'Why the last attempt failed.';

create table tracking_sync.alerts (
    alert_id bigint not null generated always as identity,
    kind text not null,
    alert_key text collate "C" not null,
    name text not null,
    severity text,
    sentence text not null,
    details jsonb,
    first_seen_at timestamp with time zone not null,
    seen_at timestamp with time zone not null,
    opened_at timestamp with time zone,
    closed_at timestamp with time zone,
    opening_digest_on date,
    closing_digest_on date,
    constraint alerts_kind_check CHECK ((kind = ANY (ARRAY['operations'::text, 'exceptions'::text]))),
    constraint alerts_pkey PRIMARY KEY (alert_id)
);
CREATE UNIQUE INDEX alerts_open_once_idx ON tracking_sync.alerts USING btree (kind, alert_key) WHERE (closed_at IS NULL);
CREATE INDEX alerts_untold_idx ON tracking_sync.alerts USING btree (kind) WHERE ((opening_digest_on IS NULL) OR ((closed_at IS NOT NULL) AND (closing_digest_on IS NULL)));
comment on table tracking_sync.alerts is 'One row per alert, from its opening to its closing; one that comes again is another row.';
comment on column tracking_sync.alerts.alert_id is 'Number of the alert.';
comment on column tracking_sync.alerts.kind is 'operations: of this program, told at once. exceptions: of containers, told in the digest.';
comment on column tracking_sync.alerts.alert_key is 'What it is about: its name, with the webhook or container where there are several. Open once.';
comment on column tracking_sync.alerts.name is 'Name of the alert as in the rules for Prometheus, or the exception.';
comment on column tracking_sync.alerts.severity is 'high, medium or low for exceptions; null for operations.';
comment on column tracking_sync.alerts.sentence is 'What is the matter and what to do, as it was last seen.';
comment on column tracking_sync.alerts.details is 'For exceptions: ids and numbers of the container, since when, and what it costs.';
comment on column tracking_sync.alerts.first_seen_at is 'First sighting. UTC.';
comment on column tracking_sync.alerts.seen_at is 'Last sighting. UTC.';
comment on column tracking_sync.alerts.opened_at is 'When it was opened; null while it has to last longer before anybody is told. UTC.';
comment on column tracking_sync.alerts.closed_at is 'When it was over; null while it is open. UTC.';
comment on column tracking_sync.alerts.opening_digest_on is 'Digest that told of its opening; alert_digests.';
comment on column tracking_sync.alerts.closing_digest_on is 'Digest that told of its closing; alert_digests.';

create table tracking_sync.checkpoints (
    stream text not null,
    scope text not null,
    sync_run_id bigint,
    position jsonb,
    pass_started_at timestamp with time zone,
    completed_at timestamp with time zone,
    updated_at timestamp with time zone not null default now(),
    completed_pass_started_at timestamp with time zone,
    completed_pass_began_at timestamp with time zone,
    constraint checkpoints_pkey PRIMARY KEY (stream, scope),
    constraint checkpoints_scope_check CHECK ((scope = ANY (ARRAY['whole'::text, 'changing'::text]))),
    constraint checkpoints_sync_run_id_fkey FOREIGN KEY (sync_run_id) REFERENCES tracking_sync.sync_runs(sync_run_id)
);
comment on table tracking_sync.checkpoints is 'One row per stream and scope: the point a run resumes from, together with pass_positions.';
comment on column tracking_sync.checkpoints.stream is 'Stream.';
comment on column tracking_sync.checkpoints.scope is 'whole: passes over the whole list. changing: passes over what can still change.';
comment on column tracking_sync.checkpoints.sync_run_id is 'Run that wrote it; sync_runs.';
comment on column tracking_sync.checkpoints.position is 'Where the pass under way stands: page, page size, digests of some of its records. After a complete pass, what it found.';
comment on column tracking_sync.checkpoints.pass_started_at is 'When the pass under way began, on the source''s clock; null when none is. UTC.';
comment on column tracking_sync.checkpoints.completed_at is 'When the last complete pass ended. UTC.';
comment on column tracking_sync.checkpoints.updated_at is 'Last write. UTC.';
comment on column tracking_sync.checkpoints.completed_pass_started_at is 'When the last complete pass began, on the source''s clock: nothing older may change a row. UTC.';
comment on column tracking_sync.checkpoints.completed_pass_began_at is 'The same instant on the clock of the database: just before its first request. UTC.';

create table tracking_sync.customer_roles (
    role_name text collate "C" not null,
    customer_name text collate "C" not null,
    constraint customer_roles_pkey PRIMARY KEY (role_name, customer_name)
);
comment on table tracking_sync.customer_roles is 'One row per role and customer whose rows it may see. You fill it; read only after `tracking-sync migrate --customers`.';
comment on column tracking_sync.customer_roles.role_name is 'Role of PostgreSQL that the customer logs in with, or that its logins are members of.';
comment on column tracking_sync.customer_roles.customer_name is 'shipments.customer_name, exactly as it stands there.';

create table tracking_sync.delivery_refusals (
    reason text collate "C" not null,
    refused bigint not null,
    first_at timestamp with time zone not null default now(),
    last_at timestamp with time zone not null default now(),
    constraint delivery_refusals_pkey PRIMARY KEY (reason)
);
comment on table tracking_sync.delivery_refusals is 'One row per reason for which the receiver refused deliveries.';
comment on column tracking_sync.delivery_refusals.reason is 'What was wrong: signature, length, path and so on, as in the metric webhook_deliveries_total.';
comment on column tracking_sync.delivery_refusals.refused is 'How many, since the first. A count that a process had not written when it ended is lost.';
comment on column tracking_sync.delivery_refusals.first_at is 'When the first was refused. UTC.';
comment on column tracking_sync.delivery_refusals.last_at is 'When the last was noted. UTC.';

create table tracking_sync.derivations (
    derivation text collate "C" not null,
    text_hash text not null,
    begun_at timestamp with time zone not null default now(),
    derived_up_to text collate "C",
    finished_at timestamp with time zone,
    constraint derivations_pkey PRIMARY KEY (derivation)
);
comment on table tracking_sync.derivations is 'What rows that are made of other rows were made by. A run that finds other functions, or zone data that give another day, makes them anew before it reads the service.';
comment on column tracking_sync.derivations.derivation is 'What is derived: container_children, that is deadlines, holds and fees with their intervals.';
comment on column tracking_sync.derivations.text_hash is 'Hash of the functions that derive.';
comment on column tracking_sync.derivations.begun_at is 'When they were last begun to be made anew. UTC.';
comment on column tracking_sync.derivations.derived_up_to is 'Container up to which they are made anew; null before the first and after the last.';
comment on column tracking_sync.derivations.finished_at is 'When all were made; null while some are not. UTC.';

create table tracking_sync.event_lists_in_doubt (
    container_id text collate "C" not null,
    doubted_at timestamp with time zone not null default now(),
    constraint event_lists_in_doubt_pkey PRIMARY KEY (container_id)
);
comment on table tracking_sync.event_lists_in_doubt is 'One row per container of which a transport event was written by itself, without the container''s list. The next run compares both and deletes the row.';
comment on column tracking_sync.event_lists_in_doubt.container_id is 'Container; containers.';
comment on column tracking_sync.event_lists_in_doubt.doubted_at is 'When that was last so, on the database''s clock. UTC.';

create table tracking_sync.installed_views (
    schema_name text collate "C" not null,
    view_name text collate "C" not null,
    position integer not null,
    checksum text not null,
    installed_at timestamp with time zone not null default now(),
    constraint installed_views_pkey PRIMARY KEY (schema_name, view_name)
);
comment on table tracking_sync.installed_views is 'One row per view that this program created: what it may replace or drop.';
comment on column tracking_sync.installed_views.schema_name is 'Schema of the view.';
comment on column tracking_sync.installed_views.view_name is 'Name of the view.';
comment on column tracking_sync.installed_views.position is 'Place in the order of creation: a view stands after those it reads from.';
comment on column tracking_sync.installed_views.checksum is 'SHA-256 of the file it was made from.';
comment on column tracking_sync.installed_views.installed_at is 'When it was created or replaced. UTC.';

create table tracking_sync.lease (
    lease_name text not null,
    holder text,
    fencing_token bigint not null default 0,
    acquired_at timestamp with time zone,
    heartbeat_at timestamp with time zone,
    constraint lease_pkey PRIMARY KEY (lease_name)
);
comment on table tracking_sync.lease is 'The right to write: one holder at a time.';
comment on column tracking_sync.lease.lease_name is 'What is held.';
comment on column tracking_sync.lease.holder is 'Host, process and command of the holder.';
comment on column tracking_sync.lease.fencing_token is 'Rises with every holder; a writer with an older token commits nothing.';
comment on column tracking_sync.lease.acquired_at is 'When the holder took it. UTC.';
comment on column tracking_sync.lease.heartbeat_at is 'Last sign of life of the holder. UTC.';

create table tracking_sync.migrations (
    version integer not null,
    name text not null,
    checksum text not null,
    applied_at timestamp with time zone not null default now(),
    constraint migrations_pkey PRIMARY KEY (version)
);
comment on table tracking_sync.migrations is 'One row per applied migration.';
comment on column tracking_sync.migrations.version is 'Number of the migration.';
comment on column tracking_sync.migrations.name is 'Name of its file.';
comment on column tracking_sync.migrations.checksum is 'SHA-256 of its file: an edited one is refused.';
comment on column tracking_sync.migrations.applied_at is 'When it was applied. UTC.';

create unlogged table tracking_sync.pass_positions (
    stream text not null,
    scope text not null,
    sync_run_id bigint not null,
    pass_started_at timestamp with time zone not null,
    position jsonb not null,
    updated_at timestamp with time zone not null default now(),
    constraint pass_positions_pkey PRIMARY KEY (stream, scope)
);
comment on table tracking_sync.pass_positions is 'One row per stream and scope: where its pass came to after its checkpoint, over pages that changed nothing. Counts only with the checkpoint of the same run and pass. Unlogged: empty after a crash of the database.';
comment on column tracking_sync.pass_positions.stream is 'Stream.';
comment on column tracking_sync.pass_positions.scope is 'Scope of the pass; as in checkpoints.';
comment on column tracking_sync.pass_positions.sync_run_id is 'Run of the pass; sync_runs.';
comment on column tracking_sync.pass_positions.pass_started_at is 'When the pass began, on the source''s clock. UTC.';
comment on column tracking_sync.pass_positions.position is 'Where the pass stands; as in checkpoints.';
comment on column tracking_sync.pass_positions.updated_at is 'Last write. UTC.';

create table tracking_sync.pass_shares (
    table_name text not null,
    column_name text not null,
    passed_at timestamp with time zone not null default now(),
    records bigint not null,
    filled bigint not null,
    constraint pass_shares_pkey PRIMARY KEY (table_name, column_name, passed_at)
);
comment on table tracking_sync.pass_shares is 'How full each column was after a complete pass over the lists, for 90 days: a column that stops coming raises an alert. At most one pass an hour.';
comment on column tracking_sync.pass_shares.table_name is 'Table of the data schema.';
comment on column tracking_sync.pass_shares.column_name is 'Column; empty for the table as a whole.';
comment on column tracking_sync.pass_shares.passed_at is 'When the run ended that read the lists. UTC.';
comment on column tracking_sync.pass_shares.records is 'Records that the pass showed, or live rows where the table has no list of its own.';
comment on column tracking_sync.pass_shares.filled is 'Those of them that have a value in the column, as far as the source still sends it. Of a table as a whole: its records; no more than 50 are counted where it has no list.';

create table tracking_sync.quarantine (
    quarantine_id bigint not null generated always as identity,
    stream text not null,
    resource_type text,
    record_id text,
    reason text not null,
    pointer text not null,
    payload text not null,
    payload_hash text collate "C" not null,
    source text not null,
    sync_run_id bigint,
    sightings bigint not null default 1,
    first_seen_at timestamp with time zone not null default now(),
    last_seen_at timestamp with time zone not null default now(),
    constraint quarantine_payload_is_kept_once UNIQUE (stream, payload_hash),
    constraint quarantine_pkey PRIMARY KEY (quarantine_id)
);
comment on table tracking_sync.quarantine is 'Records set aside with their reason; the rest of their page was stored.';
comment on column tracking_sync.quarantine.quarantine_id is 'Number of the entry.';
comment on column tracking_sync.quarantine.stream is 'Stream the record came in.';
comment on column tracking_sync.quarantine.resource_type is 'Type the record claims, if any.';
comment on column tracking_sync.quarantine.record_id is 'Id the record claims, if any.';
comment on column tracking_sync.quarantine.reason is 'Why it could not be stored.';
comment on column tracking_sync.quarantine.pointer is 'JSON pointer into the record to what is wrong.';
comment on column tracking_sync.quarantine.payload is 'The record as JSON text; what PostgreSQL cannot store stands as \u escapes.';
comment on column tracking_sync.quarantine.payload_hash is 'Hash of the payload: the same record is kept once.';
comment on column tracking_sync.quarantine.source is 'Path of the request, or the notification, it came from.';
comment on column tracking_sync.quarantine.sync_run_id is 'Run that saw it last; sync_runs.';
comment on column tracking_sync.quarantine.sightings is 'How often it was seen.';
comment on column tracking_sync.quarantine.first_seen_at is 'First sighting. UTC.';
comment on column tracking_sync.quarantine.last_seen_at is 'Last sighting. UTC.';

create table tracking_sync.raw_event_reads (
    container_id text collate "C" not null,
    changed_at timestamp with time zone not null,
    event_ids_hash text,
    read_at timestamp with time zone not null default now(),
    constraint raw_event_reads_pkey PRIMARY KEY (container_id)
);
comment on table tracking_sync.raw_event_reads is 'One row per container whose raw events were read.';
comment on column tracking_sync.raw_event_reads.container_id is 'Container; containers.';
comment on column tracking_sync.raw_event_reads.changed_at is 'containers._changed_at at that time: the raw events are read again when it differs. UTC.';
comment on column tracking_sync.raw_event_reads.event_ids_hash is 'Hash of the transport events that the container named at that time: the raw events are read again when it differs.';
comment on column tracking_sync.raw_event_reads.read_at is 'When that was. They are read again once a day until a day after the tracking of the shipment stopped. UTC.';

create table tracking_sync.reference_checks (
    resource_type text not null,
    resource_id text collate "C" not null,
    due_at timestamp with time zone not null,
    constraint reference_checks_pkey PRIMARY KEY (resource_type, resource_id)
);
comment on table tracking_sync.reference_checks is 'When ports, metro areas, terminals, rail terminals and vessels are to be read again: nothing says that one has changed.';
comment on column tracking_sync.reference_checks.resource_type is 'Type, as the source names it.';
comment on column tracking_sync.reference_checks.resource_id is 'Id at the source.';
comment on column tracking_sync.reference_checks.due_at is 'When the next sync compares the row by value. Within six days, spread. UTC.';

create table tracking_sync.refetch_queue (
    resource_type text collate "C" not null,
    resource_id text collate "C" not null,
    reason text not null,
    requested_at timestamp with time zone not null default now(),
    not_before timestamp with time zone,
    attempts integer not null default 0,
    error text,
    generation bigint not null default 1,
    claimed_until timestamp with time zone,
    claimed_by text,
    constraint refetch_queue_pkey PRIMARY KEY (resource_type, resource_id)
);
CREATE INDEX refetch_queue_not_before_idx ON tracking_sync.refetch_queue USING btree (not_before);
comment on table tracking_sync.refetch_queue is 'Records to refetch by id, because what we have of them cannot be trusted.';
comment on column tracking_sync.refetch_queue.resource_type is 'Type of the resource. transport_events: the list of events of the container of that id. webhook_notification: a notification that came without what it is about.';
comment on column tracking_sync.refetch_queue.resource_id is 'Id of the resource.';
comment on column tracking_sync.refetch_queue.reason is 'Why it is refetched.';
comment on column tracking_sync.refetch_queue.requested_at is 'When it was queued. UTC.';
comment on column tracking_sync.refetch_queue.not_before is 'Not before this instant. UTC.';
comment on column tracking_sync.refetch_queue.attempts is 'Attempts so far.';
comment on column tracking_sync.refetch_queue.error is 'Why the last attempt failed.';
comment on column tracking_sync.refetch_queue.generation is 'Rises each time it is queued anew: only a read that began after the last time answers it.';
comment on column tracking_sync.refetch_queue.claimed_until is 'Somebody is reading it, and nobody else does before this instant. UTC.';
comment on column tracking_sync.refetch_queue.claimed_by is 'Who is reading it: sync or refetch.';

create unlogged table tracking_sync.request_budget (
    account text collate "C" not null,
    requested_at timestamp with time zone[] not null default '{}'::timestamp with time zone[],
    sync_requests integer[] not null default '{}'::integer[],
    other_requests integer[] not null default '{}'::integer[],
    refetch_asked_at timestamp with time zone,
    paused_until timestamp with time zone,
    constraint request_budget_pkey PRIMARY KEY (account)
);
comment on table tracking_sync.request_budget is 'Requests of the last minute, shared by all processes of an account. Unlogged: empty after a crash of the database.';
comment on column tracking_sync.request_budget.account is 'Account the budget belongs to: a hash of the service''s address and the key, neither of which can be read from it.';
comment on column tracking_sync.request_budget.requested_at is 'Instants of the last minute''s requests in order, on the database''s clock; those within a tenth of a second are one. UTC.';
comment on column tracking_sync.request_budget.sync_requests is 'Requests of backfill and sync at each of these instants.';
comment on column tracking_sync.request_budget.other_requests is 'Other requests, such as refetches after a notification, at each of these instants.';
comment on column tracking_sync.request_budget.refetch_asked_at is 'When somebody last asked for a refetch; for a while afterwards a share is kept for refetches. UTC.';
comment on column tracking_sync.request_budget.paused_until is 'No request before this instant: the service''s Retry-After. UTC.';

create table tracking_sync.schema_drift (
    stream text not null,
    kind text not null,
    name text not null,
    detail text,
    sync_run_id bigint,
    first_seen_at timestamp with time zone not null default now(),
    last_seen_at timestamp with time zone not null default now(),
    constraint schema_drift_pkey PRIMARY KEY (stream, kind, name)
);
comment on table tracking_sync.schema_drift is 'Attributes and values of the source that this version does not know, and known ones that vanished.';
comment on column tracking_sync.schema_drift.stream is 'Stream.';
comment on column tracking_sync.schema_drift.kind is 'new_attribute, vanished_attribute, new_value or new_type.';
comment on column tracking_sync.schema_drift.name is 'Attribute, value or type.';
comment on column tracking_sync.schema_drift.detail is 'What was seen, shortened.';
comment on column tracking_sync.schema_drift.sync_run_id is 'First run that recorded it; sync_runs.';
comment on column tracking_sync.schema_drift.first_seen_at is 'First sighting. UTC.';
comment on column tracking_sync.schema_drift.last_seen_at is 'Last sighting. UTC.';

create table tracking_sync.seen_attributes (
    stream text not null,
    attribute text collate "C" not null,
    sync_run_id bigint,
    first_seen_at timestamp with time zone not null default now(),
    constraint seen_attributes_pkey PRIMARY KEY (stream, attribute)
);
comment on table tracking_sync.seen_attributes is 'One row per stream and attribute that its records carry. One that is in no record of a complete pass is taken out and recorded in schema_drift.';
comment on column tracking_sync.seen_attributes.stream is 'Stream.';
comment on column tracking_sync.seen_attributes.attribute is 'Attribute, or relationships.<name>, as the source calls it.';
comment on column tracking_sync.seen_attributes.sync_run_id is 'Run that saw it first; sync_runs.';
comment on column tracking_sync.seen_attributes.first_seen_at is 'First sighting. UTC.';

create table tracking_sync.source_account (
    is_only boolean not null default true,
    address text not null,
    salt bytea not null,
    key_hash bytea not null,
    accepted_at timestamp with time zone not null default now(),
    constraint source_account_is_one CHECK (is_only),
    constraint source_account_pkey PRIMARY KEY (is_only)
);
comment on table tracking_sync.source_account is 'The account of the service that this warehouse is filled from, at most one: records of another are refused until --accept-account.';
comment on column tracking_sync.source_account.is_only is 'Always true: there is one row at most.';
comment on column tracking_sync.source_account.address is 'Address of the service; without the port where it is on this machine.';
comment on column tracking_sync.source_account.salt is 'Random bytes that the hash of the key is made with.';
comment on column tracking_sync.source_account.key_hash is 'Slow salted hash (scrypt) of the key: shows that it is another one, and not what it is.';
comment on column tracking_sync.source_account.accepted_at is 'When this account was first seen, or last accepted. UTC.';

create table tracking_sync.source_capabilities (
    capability text not null,
    is_supported boolean not null,
    detail jsonb,
    checked_at timestamp with time zone not null default now(),
    constraint source_capabilities_pkey PRIMARY KEY (capability)
);
comment on table tracking_sync.source_capabilities is 'What the service was found to understand; tried again from time to time.';
comment on column tracking_sync.source_capabilities.capability is 'For example the includes of a list.';
comment on column tracking_sync.source_capabilities.is_supported is 'Whether the service does it.';
comment on column tracking_sync.source_capabilities.detail is 'What was asked and what was taken.';
comment on column tracking_sync.source_capabilities.checked_at is 'When it was last tried. UTC.';

create unlogged table tracking_sync.stored_views (
    view_name text collate "C" not null,
    stored_at timestamp with time zone not null,
    rows bigint not null,
    took_ms bigint not null,
    constraint stored_views_pkey PRIMARY KEY (view_name)
);
comment on table tracking_sync.stored_views is 'One row per view that is stored. Unlogged: empty after a crash of the database.';
comment on column tracking_sync.stored_views.view_name is 'View in the schema of stored views.';
comment on column tracking_sync.stored_views.stored_at is 'What instant the rows are of. UTC.';
comment on column tracking_sync.stored_views.rows is 'How many rows.';
comment on column tracking_sync.stored_views.took_ms is 'How long it took to store them, in milliseconds.';

create table tracking_sync.sync_run_streams (
    sync_run_id bigint not null,
    stream text not null,
    pages bigint not null default 0,
    requests bigint not null default 0,
    fetched bigint not null default 0,
    inserted bigint not null default 0,
    updated bigint not null default 0,
    unchanged bigint not null default 0,
    stale bigint not null default 0,
    duplicate bigint not null default 0,
    quarantined bigint not null default 0,
    tombstoned bigint not null default 0,
    coerced bigint not null default 0,
    outcome text not null default 'running'::text,
    detail text,
    started_at timestamp with time zone not null default now(),
    finished_at timestamp with time zone,
    pass_began_at timestamp with time zone,
    pass_scope text,
    constraint sync_run_streams_pass_scope_check CHECK ((pass_scope = ANY (ARRAY['whole'::text, 'changing'::text]))),
    constraint sync_run_streams_pkey PRIMARY KEY (sync_run_id, stream),
    constraint sync_run_streams_sync_run_id_fkey FOREIGN KEY (sync_run_id) REFERENCES tracking_sync.sync_runs(sync_run_id)
);
comment on table tracking_sync.sync_run_streams is 'One row per run and stream. fetched = inserted + updated + unchanged + stale + duplicate + quarantined.';
comment on column tracking_sync.sync_run_streams.sync_run_id is 'Run; sync_runs.';
comment on column tracking_sync.sync_run_streams.stream is 'Stream: one resource type as something we sync.';
comment on column tracking_sync.sync_run_streams.pages is 'List pages read.';
comment on column tracking_sync.sync_run_streams.requests is 'Requests made for this stream, every attempt counted.';
comment on column tracking_sync.sync_run_streams.fetched is 'Records seen, included ones counted with their own stream.';
comment on column tracking_sync.sync_run_streams.inserted is 'Rows new in the warehouse.';
comment on column tracking_sync.sync_run_streams.updated is 'Rows changed.';
comment on column tracking_sync.sync_run_streams.unchanged is 'Records equal to their row; nothing was written.';
comment on column tracking_sync.sync_run_streams.stale is 'Records older than their row; not applied.';
comment on column tracking_sync.sync_run_streams.duplicate is 'Repeated sightings within the run.';
comment on column tracking_sync.sync_run_streams.quarantined is 'Records set aside.';
comment on column tracking_sync.sync_run_streams.tombstoned is 'Rows marked as gone at the source.';
comment on column tracking_sync.sync_run_streams.coerced is 'Records, new or compared with their row, with a value that could not be stored as sent.';
comment on column tracking_sync.sync_run_streams.outcome is 'running, complete, incomplete, failed, not_entitled or aborted.';
comment on column tracking_sync.sync_run_streams.detail is 'Why the outcome is not complete.';
comment on column tracking_sync.sync_run_streams.started_at is 'Start. UTC.';
comment on column tracking_sync.sync_run_streams.finished_at is 'End. UTC.';
comment on column tracking_sync.sync_run_streams.pass_began_at is 'When the first request of the pass that showed the stream was about to be sent: the rows are at least so new. Earlier than the run where it went on with the pass of a run that was cut off. Null: no pass showed it. UTC.';
comment on column tracking_sync.sync_run_streams.pass_scope is 'whole: the pass read the whole list. changing: only what can still change. Null: no pass.';

create table tracking_sync.sync_runs (
    sync_run_id bigint not null generated always as identity,
    command text not null,
    options jsonb,
    started_at timestamp with time zone not null default now(),
    finished_at timestamp with time zone,
    outcome text not null default 'running'::text,
    exit_code integer,
    error_code text,
    error_message text,
    requests bigint not null default 0,
    host text,
    pid integer,
    program_version text,
    constraint sync_runs_pkey PRIMARY KEY (sync_run_id)
);
CREATE INDEX sync_runs_started_at_idx ON tracking_sync.sync_runs USING btree (started_at DESC);
comment on table tracking_sync.sync_runs is 'One row per execution of a command that reads the service.';
comment on column tracking_sync.sync_runs.sync_run_id is 'Number of the run.';
comment on column tracking_sync.sync_runs.command is 'backfill, sync or another command.';
comment on column tracking_sync.sync_runs.options is 'Narrowing and other options of the run; never a secret.';
comment on column tracking_sync.sync_runs.started_at is 'Start, on the database''s clock. UTC.';
comment on column tracking_sync.sync_runs.finished_at is 'End, on the database''s clock; null while it runs, or when it was killed. UTC.';
comment on column tracking_sync.sync_runs.outcome is 'running, complete, incomplete, failed or aborted.';
comment on column tracking_sync.sync_runs.exit_code is 'Exit code of the command.';
comment on column tracking_sync.sync_runs.error_code is 'Class of the error that ended the run.';
comment on column tracking_sync.sync_runs.error_message is 'What went wrong and what to do.';
comment on column tracking_sync.sync_runs.requests is 'Requests made to the service, every attempt counted.';
comment on column tracking_sync.sync_runs.host is 'Host the run was on.';
comment on column tracking_sync.sync_runs.pid is 'Process id of the run on its host.';
comment on column tracking_sync.sync_runs.program_version is 'Version of tracking-sync.';

create table tracking_sync.transport_event_checks (
    container_id text collate "C" not null,
    checked_at timestamp with time zone not null default now(),
    constraint transport_event_checks_pkey PRIMARY KEY (container_id)
);
comment on table tracking_sync.transport_event_checks is 'One row per container whose transport events were refetched to see whether one changed under its id. A container without a row was read when it was first seen.';
comment on column tracking_sync.transport_event_checks.container_id is 'Container; containers.';
comment on column tracking_sync.transport_event_checks.checked_at is 'When they were last refetched, on the database''s clock. UTC.';

create table tracking_sync.webhook_notifications (
    notification_id text collate "C" not null,
    event text,
    webhook_id text,
    created_at timestamp with time zone,
    received_at timestamp with time zone not null default now(),
    headers jsonb,
    body bytea,
    state text not null default 'received'::text,
    attempts integer not null default 0,
    next_attempt_at timestamp with time zone,
    processed_at timestamp with time zone,
    error text,
    observed_at timestamp with time zone not null default now(),
    reference_type text,
    reference_id text,
    constraint webhook_notifications_pkey PRIMARY KEY (notification_id)
);
CREATE INDEX webhook_notifications_open_idx ON tracking_sync.webhook_notifications USING btree (state, received_at) WHERE (state = ANY (ARRAY['received'::text, 'unresolved'::text, 'dead'::text]));
CREATE INDEX webhook_notifications_state_idx ON tracking_sync.webhook_notifications USING btree (next_attempt_at, received_at) WHERE (state = 'received'::text);
comment on table tracking_sync.webhook_notifications is 'The inbox: one row per webhook notification, stored before it is answered and before it is applied.';
comment on column tracking_sync.webhook_notifications.notification_id is 'The service''s id of the notification (data.id), or sha256:<hash of the body> where data.id cannot be read.';
comment on column tracking_sync.webhook_notifications.event is 'Event of the notification.';
comment on column tracking_sync.webhook_notifications.webhook_id is 'Webhook it was sent for.';
comment on column tracking_sync.webhook_notifications.created_at is 'When the service made it. UTC.';
comment on column tracking_sync.webhook_notifications.received_at is 'When it was first received. UTC.';
comment on column tracking_sync.webhook_notifications.headers is 'Headers of the first delivery, without secrets.';
comment on column tracking_sync.webhook_notifications.body is 'Raw bytes of the first delivery; null after the retention time.';
comment on column tracking_sync.webhook_notifications.state is 'received: waits to be applied. processed: applied. ignored: holds nothing we keep. foreign: of another webhook, or a sample. unresolved: what it is about could not be read. dead: could not be read or applied; see error.';
comment on column tracking_sync.webhook_notifications.attempts is 'Attempts to apply it.';
comment on column tracking_sync.webhook_notifications.next_attempt_at is 'Not before this instant. UTC.';
comment on column tracking_sync.webhook_notifications.processed_at is 'When it was applied. UTC.';
comment on column tracking_sync.webhook_notifications.error is 'Why the last attempt failed.';
comment on column tracking_sync.webhook_notifications.observed_at is 'When the source can have known what it says: created_at, but never later than received_at; received_at where created_at is missing or not an instant. UTC.';
comment on column tracking_sync.webhook_notifications.reference_type is 'Type of the record it is about (relationships.reference_object).';
comment on column tracking_sync.webhook_notifications.reference_id is 'Id of the record it is about (relationships.reference_object).';

create table tracking_sync.webhooks (
    webhook_id text collate "C" not null,
    url text,
    is_active boolean,
    events text[],
    is_ours boolean not null,
    checked_at timestamp with time zone not null default now(),
    alert text,
    constraint webhooks_pkey PRIMARY KEY (webhook_id)
);
comment on table tracking_sync.webhooks is 'One row per webhook of the account, as the service listed it last. Only notifications of our own ones are applied.';
comment on column tracking_sync.webhooks.webhook_id is 'Webhook; TRACKING_WEBHOOK_URL itself in the row that says that no webhook ever sent there.';
comment on column tracking_sync.webhooks.url is 'Address it sends to.';
comment on column tracking_sync.webhooks.is_active is 'Whether the service sends to it; false also where it is no longer listed. Null: the service does not say.';
comment on column tracking_sync.webhooks.events is 'Events it is subscribed to. Null: the service does not say.';
comment on column tracking_sync.webhooks.is_ours is 'Whether its notifications are applied: named in TRACKING_WEBHOOK_IDS, else sending to TRACKING_WEBHOOK_URL, else any of the account. Stays true when it is no longer listed, because its late deliveries are still ours.';
comment on column tracking_sync.webhooks.checked_at is 'When the service listed it last. UTC.';
comment on column tracking_sync.webhooks.alert is 'What keeps its notifications from us, if anything.';

CREATE OR REPLACE FUNCTION tracking_sync.ask_for_request(asking_account text, purpose text, wanted integer, per_window integer, sync_per_window integer, window_length interval, grain interval, reserve_kept interval, longest_pause interval, OUT granted integer, OUT wait_ms double precision)
 RETURNS record
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog'
AS $function$
declare
    budget "tracking_sync".request_budget;
    instant timestamptz;
    oldest integer := 1;
    newest integer;
    is_sync boolean := purpose = 'sync';
    is_sync_limited boolean;
    is_clock_put_back boolean := false;
    requests bigint;
    syncs bigint;
    free_at timestamptz;
begin
    loop
        select
            stored.account,
            stored.requested_at,
            stored.sync_requests,
            stored.other_requests,
            stored.refetch_asked_at,
            stored.paused_until
        into budget
        from "tracking_sync".request_budget as stored
        where stored.account = asking_account
        for update;

        exit when found;

        insert into "tracking_sync".request_budget (account)
        values (asking_account)
        on conflict (account) do nothing;
    end loop;

    -- Read only now: while the row is locked, instants are in the order of the grants.
    instant := clock_timestamp();

    -- What is older than the window is over.
    newest := cardinality(budget.requested_at);
    while oldest <= newest
        and budget.requested_at[oldest] <= instant - window_length - grain
    loop
        oldest := oldest + 1;
    end loop;
    budget.requested_at := budget.requested_at[oldest:];
    budget.sync_requests := budget.sync_requests[oldest:];
    budget.other_requests := budget.other_requests[oldest:];
    newest := cardinality(budget.requested_at);

    -- Instants in the future are from before the clock was put back. They count as now, or they
    -- would never be over.
    for position in reverse newest .. 1 loop
        exit when budget.requested_at[position] <= instant;
        budget.requested_at[position] := instant;
        is_clock_put_back := true;
    end loop;
    if budget.paused_until > instant + longest_pause then
        budget.paused_until := null;
    end if;

    if purpose = 'refetch' then
        budget.refetch_asked_at := instant;
    end if;
    is_sync_limited := is_sync
        and coalesce(budget.refetch_asked_at > instant - reserve_kept, false);

    select coalesce(sum(used.syncs), 0), coalesce(sum(used.syncs + used.others), 0)
    into syncs, requests
    from unnest(budget.sync_requests, budget.other_requests) as used (syncs, others);

    granted := case
        when budget.paused_until > instant then 0
        else greatest(
            least(
                wanted,
                per_window - requests,
                case when is_sync_limited then sync_per_window - syncs end
            ),
            0
        )
    end;

    if granted > 0 then
        if newest = 0 or budget.requested_at[newest] <= instant - grain then
            newest := newest + 1;
            budget.requested_at[newest] := instant;
            budget.sync_requests[newest] := 0;
            budget.other_requests[newest] := 0;
        end if;
        requests := requests + granted;
        if is_sync then
            syncs := syncs + granted;
            budget.sync_requests[newest] := budget.sync_requests[newest] + granted;
        else
            budget.other_requests[newest] := budget.other_requests[newest] + granted;
        end if;
    end if;

    -- Who was refused writes nothing, unless there is something that others must know.
    if granted > 0 or purpose = 'refetch' or is_clock_put_back then
        update "tracking_sync".request_budget as stored
        set
            requested_at = budget.requested_at,
            sync_requests = budget.sync_requests,
            other_requests = budget.other_requests,
            refetch_asked_at = budget.refetch_asked_at,
            paused_until = budget.paused_until
        where stored.account = asking_account;
    end if;

    -- The next request of this kind: when enough of the oldest will be over, and no pause stands.
    free_at := greatest(instant, budget.paused_until);
    oldest := 1;
    while requests >= per_window or (is_sync_limited and syncs >= sync_per_window) loop
        free_at := greatest(free_at, budget.requested_at[oldest] + window_length + grain);
        requests := requests
            - budget.sync_requests[oldest] - budget.other_requests[oldest];
        syncs := syncs - budget.sync_requests[oldest];
        oldest := oldest + 1;
    end loop;
    wait_ms := extract(epoch from free_at - instant) * 1000;
end
$function$;

CREATE OR REPLACE FUNCTION tracking_sync.day_of(written text)
 RETURNS date
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
    select case
        when written ~ '^[0-9]{4}-(0[1-9]|1[0-2])-[0-9]{2}$' and written !~ '^0000' then
            case
                when right(written, 2)::integer between 1 and extract(
                    day from make_date(left(written, 4)::integer, substr(written, 6, 2)::integer, 1)
                        + interval '1 month - 1 day'
                )
                    then written::date
            end
    end
$function$;

CREATE OR REPLACE FUNCTION tracking_sync.deadlines_of(pickup_lfd timestamp with time zone, pickup_lfd_terminal timestamp with time zone, pickup_lfd_rail timestamp with time zone, pickup_lfd_line timestamp with time zone, ind_facility_lfd_on timestamp with time zone, ssl_lfd timestamp with time zone, sources jsonb, pod_timezone text, final_destination_timezone text, coercions jsonb, known_pod_timezone text, known_final_destination_timezone text)
 RETURNS TABLE(kind text, place text, deadline_at timestamp with time zone, time_zone text, local_date date, is_zone_known boolean, details jsonb)
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
    select
        sent.kind,
        sent.place,
        sent.deadline_at,
        sent.time_zone,
        case
            when sent.deadline_at is null then bare.day
            when day.local between '0001-01-01' and '9999-12-31' then day.local
        end,
        sent.deadline_at is null or zone.name is not null,
        $7 -> sent.kind -> 'details'
    from (
        select
            rail.deadline_at as rail_at,
            line.deadline_at as line_at,
            rail.column_name as rail_column,
            line.column_name as line_column,
            ($1, $10 -> 'pickup_lfd' ->> 'original')
            is not distinct from (rail.deadline_at, $10 -> rail.column_name ->> 'original')
            and ($1, $10 -> 'pickup_lfd' ->> 'original')
            is distinct from ($2, $10 -> 'pickup_lfd_terminal' ->> 'original')
            and ($1, $10 -> 'pickup_lfd' ->> 'original')
            is distinct from (line.deadline_at, $10 -> line.column_name ->> 'original')
            as is_rail_day
        from (
            select
                case when $10 ? 'pickup_lfd_rail' then $3 else coalesce($3, $5) end,
                case
                    when $10 ? 'pickup_lfd_rail' or $3 is not null then 'pickup_lfd_rail'
                    else 'ind_facility_lfd_on'
                end
        ) as rail (deadline_at, column_name)
        cross join (
            select
                case when $10 ? 'pickup_lfd_line' then $4 else coalesce($4, $6) end,
                case
                    when $10 ? 'pickup_lfd_line' or $4 is not null then 'pickup_lfd_line'
                    else 'ssl_lfd'
                end
        ) as line (deadline_at, column_name)
    ) as said
    cross join lateral (
        values
            (
                'pickup_lfd',
                case when said.is_rail_day then 'ramp' else 'port' end,
                $1,
                case when said.is_rail_day then $9 else $8 end,
                'pickup_lfd'
            ),
            ('pickup_lfd_terminal', 'port', $2, $8, 'pickup_lfd_terminal'),
            ('pickup_lfd_rail', 'ramp', said.rail_at, $9, said.rail_column),
            ('pickup_lfd_line', 'port', said.line_at, $8, said.line_column)
    ) as sent (kind, place, deadline_at, time_zone, column_name)
    cross join lateral (
        select case sent.place when 'ramp' then $12 else $11 end as name
    ) as zone
    -- A deadline that was sent as a bare date has no instant, yet its day is exactly what was
    -- meant.
    cross join lateral (
        select "tracking_sync".day_of(btrim($10 -> sent.column_name ->> 'original', '"')) as day
    ) as bare
    -- Without a zone the instant is local wall time marked as UTC; an unknown zone yields no day.
    cross join lateral (
        select case
            when zone.name is not null then (sent.deadline_at at time zone zone.name)::date
            when sent.time_zone is null then (sent.deadline_at at time zone 'UTC')::date
        end as local
    ) as day
    where sent.deadline_at is not null or bare.day is not null

    union all

    select
        other.kind,
        other.place,
        other.deadline_at,
        other.time_zone,
        other.local_date,
        other.is_zone_known,
        other.details
    from "tracking_sync".source_deadlines_of($7, $8, $9, $11, $12) as other
    where $7 is not null
$function$;

CREATE OR REPLACE FUNCTION tracking_sync.fees_of(fees jsonb, ramp_fees jsonb)
 RETURNS TABLE(fee_key text, place text, type text, amount numeric, currency_code text, description text, is_total boolean, "position" integer, _unmapped jsonb, _coercions jsonb)
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
    select
        case keyed.place when 'ramp' then 'ramp-' else '' end
        || keyed.item_key
        || case when keyed.nth > 1 then '-' || keyed.nth::text else '' end,
        keyed.place,
        "tracking_sync".text_of(keyed.item -> 'type'),
        case when judged.reason is null then keyed.digits::numeric end,
        "tracking_sync".text_of(keyed.item -> 'currency_code'),
        "tracking_sync".text_of(keyed.item -> 'description'),
        coalesce(keyed.item -> 'type' = '"total"', false),
        keyed.position,
        nullif(keyed.item - array['type', 'amount', 'currency_code', 'description'], '{}'),
        nullif(
            jsonb_strip_nulls(
                jsonb_build_object(
                    'type', "tracking_sync".text_refusal(keyed.item -> 'type'),
                    'amount', "tracking_sync".refusal(keyed.item -> 'amount', judged.reason),
                    'currency_code', "tracking_sync".text_refusal(keyed.item -> 'currency_code'),
                    'description', "tracking_sync".text_refusal(keyed.item -> 'description')
                )
            ),
            '{}'
        )
    from (
        select
            named.place,
            named.item,
            named.position,
            named.item_key,
            case
                when jsonb_typeof(named.item -> 'amount') in ('number', 'string')
                    then regexp_replace(named.item ->> 'amount', '^\s+|\s+$', '', 'g')
            end as digits,
            row_number() over (
                partition by named.place, named.item_key order by named.position
            ) as nth
        from (
            select
                listed.item,
                case
                    when ramp_fees is null or listed.position < "tracking_sync".list_length(fees)
                        then listed.position
                    else listed.position - "tracking_sync".list_length(fees)
                end as position,
                case
                    when ramp_fees is null or listed.position < "tracking_sync".list_length(fees)
                        then 'port'
                    else 'ramp'
                end as place,
                "tracking_sync".item_key(listed.item -> 'type', listed.item -> 'currency_code') as item_key
            from "tracking_sync".items_of("tracking_sync".joined_lists(fees, ramp_fees)) as listed
        ) as named
    ) as keyed
    cross join lateral (
        select case
            when coalesce(jsonb_typeof(keyed.item -> 'amount'), 'null') = 'null' then null
            when keyed.digits is null or length(keyed.digits) > 1000
                or keyed.digits !~ '^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$' then 'not a number'
            when keyed.digits ~ '[eE][+-]?0*([1-9][0-9]{4,}|[2-9][0-9]{3}|1(00[1-9]|0[1-9][0-9]|[1-9][0-9]{2}))$'
                then 'out of range'
        end as reason
    ) as judged
$function$;

CREATE OR REPLACE FUNCTION tracking_sync.holds_of(holds jsonb, ramp_holds jsonb)
 RETURNS TABLE(hold_key text, place text, name text, status text, description text, detail text, "position" integer, _unmapped jsonb, _coercions jsonb)
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
    select
        case keyed.place when 'ramp' then 'ramp-' else '' end
        || keyed.item_key
        || case when keyed.nth > 1 then '-' || keyed.nth::text else '' end,
        keyed.place,
        "tracking_sync".text_of(keyed.item -> 'name'),
        "tracking_sync".text_of(keyed.item -> 'status'),
        "tracking_sync".text_of(keyed.item -> 'description'),
        "tracking_sync".text_of(keyed.item -> 'detail'),
        keyed.position,
        nullif(keyed.item - array['name', 'status', 'description', 'detail'], '{}'),
        nullif(
            jsonb_strip_nulls(
                jsonb_build_object(
                    'name', "tracking_sync".text_refusal(keyed.item -> 'name'),
                    'status', "tracking_sync".text_refusal(keyed.item -> 'status'),
                    'description', "tracking_sync".text_refusal(keyed.item -> 'description'),
                    'detail', "tracking_sync".text_refusal(keyed.item -> 'detail')
                )
            ),
            '{}'
        )
    from (
        select
            named.place,
            named.item,
            named.position,
            named.item_key,
            row_number() over (
                partition by named.place, named.item_key order by named.position
            ) as nth
        from (
            select
                listed.item,
                case
                    when ramp_holds is null or listed.position < "tracking_sync".list_length(holds)
                        then listed.position
                    else listed.position - "tracking_sync".list_length(holds)
                end as position,
                case
                    when ramp_holds is null or listed.position < "tracking_sync".list_length(holds)
                        then 'port'
                    else 'ramp'
                end as place,
                "tracking_sync".item_key(listed.item -> 'name', listed.item -> 'description') as item_key
            from "tracking_sync".items_of("tracking_sync".joined_lists(holds, ramp_holds)) as listed
        ) as named
    ) as keyed
$function$;

CREATE OR REPLACE FUNCTION tracking_sync.item_key(first jsonb, second jsonb)
 RETURNS text
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
    select left(
        translate(
            encode(
                sha256(
                    convert_to(
                        '[' || coalesce(first, 'null')::text || ',' || coalesce(second, 'null')::text || ']',
                        'UTF8'
                    )
                ),
                'base64'
            ),
            '+/',
            '-_'
        ),
        16
    )
$function$;

CREATE OR REPLACE FUNCTION tracking_sync.items_of(list jsonb)
 RETURNS TABLE(item jsonb, "position" integer)
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
    select
        case jsonb_typeof(element) when 'object' then element
            else jsonb_build_object('element', element)
        end,
        ordinality::integer - 1
    from jsonb_array_elements(
        case jsonb_typeof(list) when 'array' then list else '[]' end
    ) with ordinality as listed (element, ordinality)
$function$;

CREATE OR REPLACE FUNCTION tracking_sync.joined_lists(port jsonb, ramp jsonb)
 RETURNS jsonb
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
    select case
        when ramp is null then port
        else
            case jsonb_typeof(port) when 'array' then port else '[]' end
            || case jsonb_typeof(ramp) when 'array' then ramp else '[]' end
    end
$function$;

CREATE OR REPLACE FUNCTION tracking_sync.list_length(list jsonb)
 RETURNS integer
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
    select case jsonb_typeof(list) when 'array' then jsonb_array_length(list) else 0 end
$function$;

CREATE OR REPLACE FUNCTION tracking_sync.refusal(sent jsonb, reason text)
 RETURNS jsonb
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
    select case
        when reason is not null
            then jsonb_build_object('reason', reason, 'original', sent::text)
    end
$function$;

CREATE OR REPLACE FUNCTION tracking_sync.source_deadlines_of(sources jsonb, pod_timezone text, final_destination_timezone text, known_pod_timezone text, known_final_destination_timezone text)
 RETURNS TABLE(kind text, place text, deadline_at timestamp with time zone, time_zone text, local_date date, is_zone_known boolean, details jsonb)
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
    select
        said.kind,
        said.place,
        said.deadline_at,
        said.time_zone,
        case
            when said.deadline_at is null then "tracking_sync".day_of(said.bare)
            when day.local between '0001-01-01' and '9999-12-31' then day.local
        end,
        said.deadline_at is null or said.known_zone is not null,
        said.details
    from (
        select
            source.key as kind,
            source.value ->> 'place' as place,
            (source.value ->> 'at')::timestamptz as deadline_at,
            source.value ->> 'on' as bare,
            case source.value ->> 'place'
                when 'ramp' then final_destination_timezone
                else pod_timezone
            end as time_zone,
            case source.value ->> 'place'
                when 'ramp' then known_final_destination_timezone
                else known_pod_timezone
            end as known_zone,
            source.value -> 'details' as details
        from jsonb_each(sources) as source
        where source.key not in (
                'pickup_lfd', 'pickup_lfd_terminal', 'pickup_lfd_rail', 'pickup_lfd_line'
            )
            and source.value ?| array['at', 'on']
    ) as said
    cross join lateral (
        select case
            when said.known_zone is not null
                then (said.deadline_at at time zone said.known_zone)::date
            when said.time_zone is null then (said.deadline_at at time zone 'UTC')::date
        end as local
    ) as day
$function$;

CREATE OR REPLACE FUNCTION tracking_sync.text_of(sent jsonb)
 RETURNS text
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
    select case when jsonb_typeof(sent) in ('string', 'number', 'boolean') then sent #>> '{}' end
$function$;

CREATE OR REPLACE FUNCTION tracking_sync.text_refusal(sent jsonb)
 RETURNS jsonb
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
    select "tracking_sync".refusal(
        sent, case when jsonb_typeof(sent) in ('array', 'object') then 'not a text' end
    )
$function$;
