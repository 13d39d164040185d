-- What the service says, one table per resource type: places, vessels and other reference data
-- first, then shipments, containers with what is made of their columns, transport events and
-- tracking requests.
-- Placeholders {{data}}, {{sync}}, {{analytics}}, {{asOf}}, {{stored}}, {{datasync}} are the schema
-- names derived from TRACKING_SCHEMA.

create table {{analytics}}.time_zones (
    name text collate "C" not null,
    constraint time_zones_pkey primary key (name)
);

comment on table {{analytics}}.time_zones is
    'Time zones this PostgreSQL knows; filled when views are installed, and anew when zone data '
    'have changed. A zone that is not here is never converted, so a bad name breaks no view.';
comment on column {{analytics}}.time_zones.name is
    'IANA name of the zone, as in pg_timezone_names.';

create table {{data}}.ports (
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
    _observed_at timestamptz not null,
    _first_seen_at timestamptz not null,
    _changed_at timestamptz not null,
    _fingerprint text collate "C",
    _deleted_at timestamptz,
    _sync_run_id bigint,
    _unmapped jsonb,
    _coercions jsonb,
    _digest text collate "C",
    constraint ports_pkey primary key (port_id)
);

comment on table {{data}}.ports is
    'One row per seaport.';
comment on column {{data}}.ports.port_id is
    'The service''s id of the port.';
comment on column {{data}}.ports.name is
    'Name. From attributes.name.';
comment on column {{data}}.ports.code is
    'UN/LOCODE. From attributes.code.';
comment on column {{data}}.ports.state_abbr is
    'State or province, abbreviated. From attributes.state_abbr.';
comment on column {{data}}.ports.city is
    'City. From attributes.city.';
comment on column {{data}}.ports.country_code is
    'Country, two letters. From attributes.country_code.';
comment on column {{data}}.ports.time_zone is
    'IANA time zone. From attributes.time_zone.';
comment on column {{data}}.ports.latitude is
    'Latitude in degrees, north positive. From attributes.latitude.';
comment on column {{data}}.ports.longitude is
    'Longitude in degrees, east positive. From attributes.longitude.';
comment on column {{data}}.ports.terminal_ids is
    'Ids of its terminals, sorted. From relationships.terminals.';
comment on column {{data}}.ports._observed_at is
    'When the source can have known this: start of the request on the source''s clock, or '
    'the notification''s own time. A row never goes back behind it. UTC.';
comment on column {{data}}.ports._first_seen_at is
    '_observed_at of the first sighting. UTC.';
comment on column {{data}}.ports._changed_at is
    '_observed_at of the last material change: any column but our own, time stamps of '
    'checking, lists of ids and _unmapped. UTC.';
comment on column {{data}}.ports._fingerprint is
    'Hash of the record as last written; equal hashes mean that nothing has to be written.';
comment on column {{data}}.ports._deleted_at is
    'Tombstone: when the record was found gone at the source; null while it lives. UTC.';
comment on column {{data}}.ports._sync_run_id is
    'The run that last wrote this row; sync_runs in the bookkeeping schema.';
comment on column {{data}}.ports._unmapped is
    'Everything the source sent that has no column, by attribute name; other parts of the '
    'record as relationships.<name>, links.<name>, record.<name>; an attribute with a dot '
    'in its name as attributes.<name>.';
comment on column {{data}}.ports._coercions is
    'Values not stored as sent, by column (or _unmapped): why, and the original as JSON text.';
comment on column {{data}}.ports._digest is
    'Hash of the bytes the record was last written from: lets an unchanged record be recognised '
    'without parsing. Null until a run records it.';

create table {{data}}.metro_areas (
    metro_area_id text collate "C" not null,
    name text,
    code text,
    state_abbr text,
    country_code text,
    time_zone text,
    latitude numeric,
    longitude numeric,
    _observed_at timestamptz not null,
    _first_seen_at timestamptz not null,
    _changed_at timestamptz not null,
    _fingerprint text collate "C",
    _deleted_at timestamptz,
    _sync_run_id bigint,
    _unmapped jsonb,
    _coercions jsonb,
    _digest text collate "C",
    constraint metro_areas_pkey primary key (metro_area_id)
);

comment on table {{data}}.metro_areas is
    'One row per inland place or metropolitan area that can be a destination.';
comment on column {{data}}.metro_areas.metro_area_id is
    'The service''s id of the metropolitan area.';
comment on column {{data}}.metro_areas.name is
    'Name. From attributes.name.';
comment on column {{data}}.metro_areas.code is
    'UN/LOCODE. From attributes.code.';
comment on column {{data}}.metro_areas.state_abbr is
    'State or province, abbreviated. From attributes.state_abbr.';
comment on column {{data}}.metro_areas.country_code is
    'Country, two letters. From attributes.country_code.';
comment on column {{data}}.metro_areas.time_zone is
    'IANA time zone. From attributes.time_zone.';
comment on column {{data}}.metro_areas.latitude is
    'Latitude in degrees, north positive. From attributes.latitude.';
comment on column {{data}}.metro_areas.longitude is
    'Longitude in degrees, east positive. From attributes.longitude.';
comment on column {{data}}.metro_areas._observed_at is
    'When the source can have known this: start of the request on the source''s clock, or '
    'the notification''s own time. A row never goes back behind it. UTC.';
comment on column {{data}}.metro_areas._first_seen_at is
    '_observed_at of the first sighting. UTC.';
comment on column {{data}}.metro_areas._changed_at is
    '_observed_at of the last material change: any column but our own, time stamps of '
    'checking, lists of ids and _unmapped. UTC.';
comment on column {{data}}.metro_areas._fingerprint is
    'Hash of the record as last written; equal hashes mean that nothing has to be written.';
comment on column {{data}}.metro_areas._deleted_at is
    'Tombstone: when the record was found gone at the source; null while it lives. UTC.';
comment on column {{data}}.metro_areas._sync_run_id is
    'The run that last wrote this row; sync_runs in the bookkeeping schema.';
comment on column {{data}}.metro_areas._unmapped is
    'Everything the source sent that has no column, by attribute name; other parts of the '
    'record as relationships.<name>, links.<name>, record.<name>; an attribute with a dot '
    'in its name as attributes.<name>.';
comment on column {{data}}.metro_areas._coercions is
    'Values not stored as sent, by column (or _unmapped): why, and the original as JSON text.';
comment on column {{data}}.metro_areas._digest is
    'Hash of the bytes the record was last written from: lets an unchanged record be recognised '
    'without parsing. Null until a run records it.';

create table {{data}}.terminals (
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
    _observed_at timestamptz not null,
    _first_seen_at timestamptz not null,
    _changed_at timestamptz not null,
    _fingerprint text collate "C",
    _deleted_at timestamptz,
    _sync_run_id bigint,
    _unmapped jsonb,
    _coercions jsonb,
    _digest text collate "C",
    constraint terminals_pkey primary key (terminal_id)
);

comment on table {{data}}.terminals is
    'One row per terminal: marine ones, and rail ramps that the service lists as terminals.';
comment on column {{data}}.terminals.terminal_id is
    'The service''s id of the terminal.';
comment on column {{data}}.terminals.name is
    'Name. From attributes.name.';
comment on column {{data}}.terminals.nickname is
    'Short name in daily use. From attributes.nickname.';
comment on column {{data}}.terminals.firms_code is
    'FIRMS code of US Customs, or sublocation code. From attributes.firms_code.';
comment on column {{data}}.terminals.smdg_code is
    'SMDG terminal code. From attributes.smdg_code.';
comment on column {{data}}.terminals.bic_facility_code is
    'BIC facility code. From attributes.bic_facility_code.';
comment on column {{data}}.terminals.street is
    'Street. From attributes.street.';
comment on column {{data}}.terminals.city is
    'City. From attributes.city.';
comment on column {{data}}.terminals.state is
    'State or province. From attributes.state.';
comment on column {{data}}.terminals.state_abbr is
    'State or province, abbreviated. From attributes.state_abbr.';
comment on column {{data}}.terminals.zip is
    'Postal code. From attributes.zip.';
comment on column {{data}}.terminals.country is
    'Country. From attributes.country.';
comment on column {{data}}.terminals.facility_type is
    'ocean_terminal or rail; other values are kept. From attributes.facility_type.';
comment on column {{data}}.terminals.provided_data is
    'What the terminal gives the service at all, as sent: by attribute of a container true or '
    'false, and notes. False for pickup_lfd: no last free day can come from it. From '
    'attributes.provided_data.';
comment on column {{data}}.terminals.port_id is
    'Port it belongs to; ports. From relationships.port.';
comment on column {{data}}.terminals._observed_at is
    'When the source can have known this: start of the request on the source''s clock, or '
    'the notification''s own time. A row never goes back behind it. UTC.';
comment on column {{data}}.terminals._first_seen_at is
    '_observed_at of the first sighting. UTC.';
comment on column {{data}}.terminals._changed_at is
    '_observed_at of the last material change: any column but our own, time stamps of '
    'checking, lists of ids and _unmapped. UTC.';
comment on column {{data}}.terminals._fingerprint is
    'Hash of the record as last written; equal hashes mean that nothing has to be written.';
comment on column {{data}}.terminals._deleted_at is
    'Tombstone: when the record was found gone at the source; null while it lives. UTC.';
comment on column {{data}}.terminals._sync_run_id is
    'The run that last wrote this row; sync_runs in the bookkeeping schema.';
comment on column {{data}}.terminals._unmapped is
    'Everything the source sent that has no column, by attribute name; other parts of the '
    'record as relationships.<name>, links.<name>, record.<name>; an attribute with a dot '
    'in its name as attributes.<name>.';
comment on column {{data}}.terminals._coercions is
    'Values not stored as sent, by column (or _unmapped): why, and the original as JSON text.';
comment on column {{data}}.terminals._digest is
    'Hash of the bytes the record was last written from: lets an unchanged record be recognised '
    'without parsing. Null until a run records it.';

create table {{data}}.rail_terminals (
    rail_terminal_id text collate "C" not null,
    name text,
    nickname text,
    firms_code text,
    city text,
    port_id text collate "C",
    metro_area_id text collate "C",
    _observed_at timestamptz not null,
    _first_seen_at timestamptz not null,
    _changed_at timestamptz not null,
    _fingerprint text collate "C",
    _deleted_at timestamptz,
    _sync_run_id bigint,
    _unmapped jsonb,
    _coercions jsonb,
    _digest text collate "C",
    constraint rail_terminals_pkey primary key (rail_terminal_id)
);

comment on table {{data}}.rail_terminals is
    'One row per rail terminal.';
comment on column {{data}}.rail_terminals.rail_terminal_id is
    'The service''s id of the rail terminal.';
comment on column {{data}}.rail_terminals.name is
    'Name. From attributes.name.';
comment on column {{data}}.rail_terminals.nickname is
    'Short name in daily use. From attributes.nickname.';
comment on column {{data}}.rail_terminals.firms_code is
    'FIRMS code of US Customs. From attributes.firms_code.';
comment on column {{data}}.rail_terminals.city is
    'City. From attributes.city.';
comment on column {{data}}.rail_terminals.port_id is
    'Port it belongs to; ports. From relationships.port.';
comment on column {{data}}.rail_terminals.metro_area_id is
    'Metropolitan area it belongs to; metro_areas. From relationships.metro_area.';
comment on column {{data}}.rail_terminals._observed_at is
    'When the source can have known this: start of the request on the source''s clock, or '
    'the notification''s own time. A row never goes back behind it. UTC.';
comment on column {{data}}.rail_terminals._first_seen_at is
    '_observed_at of the first sighting. UTC.';
comment on column {{data}}.rail_terminals._changed_at is
    '_observed_at of the last material change: any column but our own, time stamps of '
    'checking, lists of ids and _unmapped. UTC.';
comment on column {{data}}.rail_terminals._fingerprint is
    'Hash of the record as last written; equal hashes mean that nothing has to be written.';
comment on column {{data}}.rail_terminals._deleted_at is
    'Tombstone: when the record was found gone at the source; null while it lives. UTC.';
comment on column {{data}}.rail_terminals._sync_run_id is
    'The run that last wrote this row; sync_runs in the bookkeeping schema.';
comment on column {{data}}.rail_terminals._unmapped is
    'Everything the source sent that has no column, by attribute name; other parts of the '
    'record as relationships.<name>, links.<name>, record.<name>; an attribute with a dot '
    'in its name as attributes.<name>.';
comment on column {{data}}.rail_terminals._coercions is
    'Values not stored as sent, by column (or _unmapped): why, and the original as JSON text.';
comment on column {{data}}.rail_terminals._digest is
    'Hash of the bytes the record was last written from: lets an unchanged record be recognised '
    'without parsing. Null until a run records it.';

create table {{data}}.vessels (
    vessel_id text collate "C" not null,
    name text,
    imo text,
    mmsi text,
    latitude numeric,
    longitude numeric,
    nautical_speed_knots numeric,
    navigational_heading_degrees numeric,
    position_timestamp timestamptz,
    _observed_at timestamptz not null,
    _first_seen_at timestamptz not null,
    _changed_at timestamptz not null,
    _fingerprint text collate "C",
    _deleted_at timestamptz,
    _sync_run_id bigint,
    _unmapped jsonb,
    _coercions jsonb,
    _digest text collate "C",
    constraint vessels_pkey primary key (vessel_id)
);

comment on table {{data}}.vessels is
    'One row per vessel, with the position it had when it was last read: once, and with every sync '
    'only where TRACKING_VESSEL_POSITIONS is true.';
comment on column {{data}}.vessels.vessel_id is
    'The service''s id of the vessel.';
comment on column {{data}}.vessels.name is
    'Name. From attributes.name.';
comment on column {{data}}.vessels.imo is
    'IMO number. From attributes.imo.';
comment on column {{data}}.vessels.mmsi is
    'Maritime mobile service identity. From attributes.mmsi.';
comment on column {{data}}.vessels.latitude is
    'Latitude in degrees when it was last read, north positive. From attributes.latitude.';
comment on column {{data}}.vessels.longitude is
    'Longitude in degrees when it was last read, east positive. From attributes.longitude.';
comment on column {{data}}.vessels.nautical_speed_knots is
    'Speed in knots. From attributes.nautical_speed_knots.';
comment on column {{data}}.vessels.navigational_heading_degrees is
    'Heading in degrees: 0 north, 90 east. From attributes.navigational_heading_degrees.';
comment on column {{data}}.vessels.position_timestamp is
    'When the position was recorded. UTC. From attributes.position_timestamp.';
comment on column {{data}}.vessels._observed_at is
    'When the source can have known this: start of the request on the source''s clock, or '
    'the notification''s own time. A row never goes back behind it. UTC.';
comment on column {{data}}.vessels._first_seen_at is
    '_observed_at of the first sighting. UTC.';
comment on column {{data}}.vessels._changed_at is
    '_observed_at of the last material change: any column but our own, time stamps of '
    'checking, lists of ids and _unmapped. UTC.';
comment on column {{data}}.vessels._fingerprint is
    'Hash of the record as last written; equal hashes mean that nothing has to be written.';
comment on column {{data}}.vessels._deleted_at is
    'Tombstone: when the record was found gone at the source; null while it lives. UTC.';
comment on column {{data}}.vessels._sync_run_id is
    'The run that last wrote this row; sync_runs in the bookkeeping schema.';
comment on column {{data}}.vessels._unmapped is
    'Everything the source sent that has no column, by attribute name; other parts of the '
    'record as relationships.<name>, links.<name>, record.<name>; an attribute with a dot '
    'in its name as attributes.<name>.';
comment on column {{data}}.vessels._coercions is
    'Values not stored as sent, by column (or _unmapped): why, and the original as JSON text.';
comment on column {{data}}.vessels._digest is
    'Hash of the bytes the record was last written from: lets an unchanged record be recognised '
    'without parsing. Null until a run records it.';

create table {{data}}.vessel_positions (
    vessel_id text collate "C" not null,
    position_at timestamptz not null,
    latitude numeric,
    longitude numeric,
    heading numeric,
    is_estimated boolean,
    _first_seen_at timestamptz not null,
    _sync_run_id bigint,
    constraint vessel_positions_pkey primary key (vessel_id, position_at)
);

comment on table {{data}}.vessel_positions is
    'One row per vessel and instant; filled only when positions are asked for '
    '(TRACKING_VESSEL_POSITIONS).';
comment on column {{data}}.vessel_positions.vessel_id is
    'Vessel; vessels.';
comment on column {{data}}.vessel_positions.position_at is
    'When the vessel was there. UTC. From positions[].timestamp.';
comment on column {{data}}.vessel_positions.latitude is
    'Latitude in degrees. From positions[].latitude.';
comment on column {{data}}.vessel_positions.longitude is
    'Longitude in degrees. From positions[].longitude.';
comment on column {{data}}.vessel_positions.heading is
    'Heading in degrees; null when not known. From positions[].heading.';
comment on column {{data}}.vessel_positions.is_estimated is
    'True for an estimated position. From positions[].estimated.';
comment on column {{data}}.vessel_positions._first_seen_at is
    'When we first saw the position. UTC.';
comment on column {{data}}.vessel_positions._sync_run_id is
    'The run that wrote this row; sync_runs in the bookkeeping schema.';

create table {{data}}.custom_fields (
    entity_id text collate "C" not null,
    api_slug text collate "C" not null,
    custom_field_id text collate "C",
    value jsonb,
    display_value text,
    entity_type text,
    definition_id text collate "C",
    _observed_at timestamptz not null,
    _first_seen_at timestamptz not null,
    _changed_at timestamptz not null,
    _fingerprint text collate "C",
    _deleted_at timestamptz,
    _sync_run_id bigint,
    _unmapped jsonb,
    _coercions jsonb,
    _digest text collate "C",
    constraint custom_fields_pkey primary key (entity_id, api_slug)
);

comment on table {{data}}.custom_fields is
    'One row per entity and custom field.';
comment on column {{data}}.custom_fields.entity_id is
    'Entity the field belongs to, mostly a container. From relationships.entity.';
comment on column {{data}}.custom_fields.api_slug is
    'Slug of the custom field definition. From attributes.api_slug.';
comment on column {{data}}.custom_fields.custom_field_id is
    'The service''s id of the custom field.';
comment on column {{data}}.custom_fields.value is
    'Stored value; the interface shows texts, other types are kept. From attributes.value.';
comment on column {{data}}.custom_fields.display_value is
    'Value as shown to people. From attributes.display_value.';
comment on column {{data}}.custom_fields.entity_type is
    'Resource type of the entity where the service says it. From relationships.entity.';
comment on column {{data}}.custom_fields.definition_id is
    'Custom field definition at the service. From relationships.definition.';
comment on column {{data}}.custom_fields._observed_at is
    'When the source can have known this: start of the request on the source''s clock, or '
    'the notification''s own time. A row never goes back behind it. UTC.';
comment on column {{data}}.custom_fields._first_seen_at is
    '_observed_at of the first sighting. UTC.';
comment on column {{data}}.custom_fields._changed_at is
    '_observed_at of the last material change: any column but our own, time stamps of '
    'checking, lists of ids and _unmapped. UTC.';
comment on column {{data}}.custom_fields._fingerprint is
    'Hash of the record as last written; equal hashes mean that nothing has to be written.';
comment on column {{data}}.custom_fields._deleted_at is
    'Tombstone: when the record was found gone at the source; null while it lives. UTC.';
comment on column {{data}}.custom_fields._sync_run_id is
    'The run that last wrote this row; sync_runs in the bookkeeping schema.';
comment on column {{data}}.custom_fields._unmapped is
    'Everything the source sent that has no column, by attribute name; other parts of the '
    'record as relationships.<name>, links.<name>, record.<name>; an attribute with a dot '
    'in its name as attributes.<name>.';
comment on column {{data}}.custom_fields._coercions is
    'Values not stored as sent, by column (or _unmapped): why, and the original as JSON text.';
comment on column {{data}}.custom_fields._digest is
    'Hash of the bytes the record was last written from: lets an unchanged record be recognised '
    'without parsing. Null until a run records it.';

create table {{data}}.webhook_event_categories (
    webhook_event_category_id text collate "C" not null,
    name text,
    events jsonb,
    _observed_at timestamptz not null,
    _first_seen_at timestamptz not null,
    _changed_at timestamptz not null,
    _fingerprint text collate "C",
    _deleted_at timestamptz,
    _sync_run_id bigint,
    _unmapped jsonb,
    _coercions jsonb,
    _digest text collate "C",
    constraint webhook_event_categories_pkey primary key (webhook_event_category_id)
);

comment on table {{data}}.webhook_event_categories is
    'One row per category of events that a webhook can subscribe to.';
comment on column {{data}}.webhook_event_categories.webhook_event_category_id is
    'Slug of the category.';
comment on column {{data}}.webhook_event_categories.name is
    'Name. From attributes.name.';
comment on column {{data}}.webhook_event_categories.events is
    'Events of the category that a webhook can subscribe to: name and description. From '
    'attributes.events.';
comment on column {{data}}.webhook_event_categories._observed_at is
    'When the source can have known this: start of the request on the source''s clock, or '
    'the notification''s own time. A row never goes back behind it. UTC.';
comment on column {{data}}.webhook_event_categories._first_seen_at is
    '_observed_at of the first sighting. UTC.';
comment on column {{data}}.webhook_event_categories._changed_at is
    '_observed_at of the last material change: any column but our own, time stamps of '
    'checking, lists of ids and _unmapped. UTC.';
comment on column {{data}}.webhook_event_categories._fingerprint is
    'Hash of the record as last written; equal hashes mean that nothing has to be written.';
comment on column {{data}}.webhook_event_categories._deleted_at is
    'Tombstone: when the record was found gone at the source; null while it lives. UTC.';
comment on column {{data}}.webhook_event_categories._sync_run_id is
    'The run that last wrote this row; sync_runs in the bookkeeping schema.';
comment on column {{data}}.webhook_event_categories._unmapped is
    'Everything the source sent that has no column, by attribute name; other parts of the '
    'record as relationships.<name>, links.<name>, record.<name>; an attribute with a dot '
    'in its name as attributes.<name>.';
comment on column {{data}}.webhook_event_categories._coercions is
    'Values not stored as sent, by column (or _unmapped): why, and the original as JSON text.';
comment on column {{data}}.webhook_event_categories._digest is
    'Hash of the bytes the record was last written from: lets an unchanged record be recognised '
    'without parsing. Null until a run records it.';

create table {{data}}.other_resources (
    resource_type text collate "C" not null,
    resource_id text collate "C" not null,
    _observed_at timestamptz not null,
    _first_seen_at timestamptz not null,
    _changed_at timestamptz not null,
    _fingerprint text collate "C",
    _deleted_at timestamptz,
    _sync_run_id bigint,
    _unmapped jsonb,
    _coercions jsonb,
    _digest text collate "C",
    constraint other_resources_pkey primary key (resource_type, resource_id)
);

comment on table {{data}}.other_resources is
    'One row per resource of a type that has no table of its own, so that nothing is lost.';
comment on column {{data}}.other_resources.resource_type is
    'JSON:API type of a resource that has no table of its own.';
comment on column {{data}}.other_resources.resource_id is
    'The service''s id. Attributes and relationships are in _unmapped.';
comment on column {{data}}.other_resources._observed_at is
    'When the source can have known this: start of the request on the source''s clock, or '
    'the notification''s own time. A row never goes back behind it. UTC.';
comment on column {{data}}.other_resources._first_seen_at is
    '_observed_at of the first sighting. UTC.';
comment on column {{data}}.other_resources._changed_at is
    '_observed_at of the last material change: any column but our own, time stamps of '
    'checking, lists of ids and _unmapped. UTC.';
comment on column {{data}}.other_resources._fingerprint is
    'Hash of the record as last written; equal hashes mean that nothing has to be written.';
comment on column {{data}}.other_resources._deleted_at is
    'Tombstone: when the record was found gone at the source; null while it lives. UTC.';
comment on column {{data}}.other_resources._sync_run_id is
    'The run that last wrote this row; sync_runs in the bookkeeping schema.';
comment on column {{data}}.other_resources._unmapped is
    'Everything the source sent that has no column, by attribute name; other parts of the '
    'record as relationships.<name>, links.<name>, record.<name>; an attribute with a dot '
    'in its name as attributes.<name>.';
comment on column {{data}}.other_resources._coercions is
    'Values not stored as sent, by column (or _unmapped): why, and the original as JSON text.';
comment on column {{data}}.other_resources._digest is
    'Hash of the bytes the record was last written from: lets an unchanged record be recognised '
    'without parsing. Null until a run records it.';

create table {{data}}.shipments (
    shipment_id text collate "C" not null,
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
    line_tracking_last_attempted_at timestamptz,
    line_tracking_last_succeeded_at timestamptz,
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
    container_ids text[],
    _observed_at timestamptz not null,
    _first_seen_at timestamptz not null,
    _changed_at timestamptz not null,
    _fingerprint text collate "C",
    _deleted_at timestamptz,
    _sync_run_id bigint,
    _unmapped jsonb,
    _coercions jsonb,
    _digest text collate "C",
    constraint shipments_pkey primary key (shipment_id)
);

comment on table {{data}}.shipments is
    'One row per shipment.';
comment on column {{data}}.shipments.shipment_id is
    'The service''s id of the shipment.';
comment on column {{data}}.shipments.bill_of_lading_number is
    'Bill of lading number. From attributes.bill_of_lading_number.';
comment on column {{data}}.shipments.normalized_number is
    'The shipment''s number in the form used to ask the shipping line. From '
    'attributes.normalized_number.';
comment on column {{data}}.shipments.ref_numbers is
    'The customer''s reference numbers. From attributes.ref_numbers.';
comment on column {{data}}.shipments.created_at is
    'When the service created the shipment. UTC. From attributes.created_at.';
comment on column {{data}}.shipments.tags is
    'Tags set at the service. From attributes.tags.';
comment on column {{data}}.shipments.port_of_lading_locode is
    'UN/LOCODE of the port of lading. From attributes.port_of_lading_locode.';
comment on column {{data}}.shipments.port_of_lading_name is
    'Name of the port of lading. From attributes.port_of_lading_name.';
comment on column {{data}}.shipments.port_of_discharge_locode is
    'UN/LOCODE of the port of discharge. From attributes.port_of_discharge_locode.';
comment on column {{data}}.shipments.port_of_discharge_name is
    'Name of the port of discharge. From attributes.port_of_discharge_name.';
comment on column {{data}}.shipments.destination_locode is
    'UN/LOCODE of the destination. From attributes.destination_locode.';
comment on column {{data}}.shipments.destination_name is
    'Name of the destination. From attributes.destination_name.';
comment on column {{data}}.shipments.shipping_line_scac is
    'Standard carrier alpha code of the shipping line. From attributes.shipping_line_scac.';
comment on column {{data}}.shipments.shipping_line_name is
    'Name of the shipping line. From attributes.shipping_line_name.';
comment on column {{data}}.shipments.shipping_line_short_name is
    'Short name of the shipping line. From attributes.shipping_line_short_name.';
comment on column {{data}}.shipments.customer_name is
    'Customer the shipment belongs to. From attributes.customer_name.';
comment on column {{data}}.shipments.pod_vessel_name is
    'Name of the vessel that arrives at the port of discharge. From attributes.pod_vessel_name.';
comment on column {{data}}.shipments.pod_vessel_imo is
    'IMO number of the vessel that arrives at the port of discharge. From '
    'attributes.pod_vessel_imo.';
comment on column {{data}}.shipments.pod_voyage_number is
    'Voyage number of the vessel that arrives at the port of discharge. From '
    'attributes.pod_voyage_number.';
comment on column {{data}}.shipments.pol_etd_at is
    'Estimated departure from the port of lading, as the shipping line reports it; depends '
    'on the line. UTC; local zone pol_timezone. From attributes.pol_etd_at.';
comment on column {{data}}.shipments.pol_original_etd_at is
    'First estimated departure from the port of lading that the line reported. UTC; local zone '
    'pol_timezone. From attributes.pol_original_etd_at.';
comment on column {{data}}.shipments.pol_atd_at is
    'Actual departure from the port of lading. UTC; local zone pol_timezone. From '
    'attributes.pol_atd_at.';
comment on column {{data}}.shipments.pod_eta_at is
    'Estimated arrival at the port of discharge. UTC; local zone pod_timezone. From '
    'attributes.pod_eta_at.';
comment on column {{data}}.shipments.pod_original_eta_at is
    'First estimated arrival at the port of discharge that the line reported. UTC; local '
    'zone pod_timezone. From attributes.pod_original_eta_at.';
comment on column {{data}}.shipments.pod_ata_at is
    'Actual arrival at the port of discharge. UTC; local zone pod_timezone. From '
    'attributes.pod_ata_at.';
comment on column {{data}}.shipments.destination_eta_at is
    'Estimated arrival at the destination as the line reports it; for inland rail see '
    'containers.ind_eta_at. UTC; local zone destination_timezone. From '
    'attributes.destination_eta_at.';
comment on column {{data}}.shipments.destination_original_eta_at is
    'First estimated arrival at the destination that the line reported. UTC; local zone '
    'destination_timezone. From attributes.destination_original_eta_at.';
comment on column {{data}}.shipments.destination_ata_at is
    'Actual arrival at the destination as the line reports it; for inland rail see '
    'containers.ind_ata_at. UTC; local zone destination_timezone. From '
    'attributes.destination_ata_at.';
comment on column {{data}}.shipments.pol_timezone is
    'IANA time zone of the port of lading. From attributes.pol_timezone.';
comment on column {{data}}.shipments.pod_timezone is
    'IANA time zone of the port of discharge. From attributes.pod_timezone.';
comment on column {{data}}.shipments.destination_timezone is
    'IANA time zone of the destination. From attributes.destination_timezone.';
comment on column {{data}}.shipments.line_tracking_last_attempted_at is
    'Last attempt of the service to ask the shipping line. UTC. From '
    'attributes.line_tracking_last_attempted_at.';
comment on column {{data}}.shipments.line_tracking_last_succeeded_at is
    'Last successful answer of the shipping line. UTC. From '
    'attributes.line_tracking_last_succeeded_at.';
comment on column {{data}}.shipments.line_tracking_stopped_at is
    'When the service stopped asking the shipping line; null while it still asks. UTC. From'
    ' attributes.line_tracking_stopped_at.';
comment on column {{data}}.shipments.line_tracking_stopped_reason is
    'Why the service stopped asking the shipping line. From '
    'attributes.line_tracking_stopped_reason.';
comment on column {{data}}.shipments.port_of_lading_id is
    'Port of lading; ports. From relationships.port_of_lading.';
comment on column {{data}}.shipments.port_of_discharge_id is
    'Port of discharge; ports. From relationships.port_of_discharge.';
comment on column {{data}}.shipments.pod_terminal_id is
    'Terminal at the port of discharge; terminals. From relationships.pod_terminal.';
comment on column {{data}}.shipments.destination_id is
    'Destination; ports or metro_areas by destination_type. From relationships.destination.';
comment on column {{data}}.shipments.destination_type is
    'Resource type that destination_id points to. From relationships.destination.';
comment on column {{data}}.shipments.destination_terminal_id is
    'Terminal at the destination; terminals or rail_terminals by destination_terminal_type.'
    ' From relationships.destination_terminal.';
comment on column {{data}}.shipments.destination_terminal_type is
    'Resource type that destination_terminal_id points to. From '
    'relationships.destination_terminal.';
comment on column {{data}}.shipments.line_tracking_stopped_by_user_id is
    'User of the service who stopped the tracking; null when no user did. From '
    'relationships.line_tracking_stopped_by_user.';
comment on column {{data}}.shipments.container_ids is
    'Ids of the shipment''s containers. From relationships.containers.';
comment on column {{data}}.shipments._observed_at is
    'When the source can have known this: start of the request on the source''s clock, or '
    'the notification''s own time. A row never goes back behind it. UTC.';
comment on column {{data}}.shipments._first_seen_at is
    '_observed_at of the first sighting. UTC.';
comment on column {{data}}.shipments._changed_at is
    '_observed_at of the last material change: any column but our own, time stamps of '
    'checking, lists of ids and _unmapped. UTC.';
comment on column {{data}}.shipments._fingerprint is
    'Hash of the record as last written; equal hashes mean that nothing has to be written.';
comment on column {{data}}.shipments._deleted_at is
    'Tombstone: when the record was found gone at the source; null while it lives. UTC.';
comment on column {{data}}.shipments._sync_run_id is
    'The run that last wrote this row; sync_runs in the bookkeeping schema.';
comment on column {{data}}.shipments._unmapped is
    'Everything the source sent that has no column, by attribute name; other parts of the '
    'record as relationships.<name>, links.<name>, record.<name>; an attribute with a dot '
    'in its name as attributes.<name>.';
comment on column {{data}}.shipments._coercions is
    'Values not stored as sent, by column (or _unmapped): why, and the original as JSON text.';
comment on column {{data}}.shipments._digest is
    'Hash of the bytes the record was last written from: lets an unchanged record be recognised '
    'without parsing. Null until a run records it.';

create table {{data}}.containers (
    container_id text collate "C" not null,
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
    terminal_checked_at timestamptz,
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
    pod_last_tracking_request_at timestamptz,
    rail_last_tracking_request_at timestamptz,
    shipment_last_tracking_request_at timestamptz,
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
    transport_event_ids text[],
    raw_event_ids text[],
    pickup_lfd_terminal timestamptz,
    pickup_lfd_rail timestamptz,
    pickup_lfd_line timestamptz,
    import_deadline_sources jsonb,
    _observed_at timestamptz not null,
    _first_seen_at timestamptz not null,
    _changed_at timestamptz not null,
    _fingerprint text collate "C",
    _deleted_at timestamptz,
    _sync_run_id bigint,
    _unmapped jsonb,
    _coercions jsonb,
    _digest text collate "C",
    constraint containers_pkey primary key (container_id)
);

comment on table {{data}}.containers is
    'One row per container: the equipment during one journey.';
comment on column {{data}}.containers.container_id is
    'The service''s id of the container: the equipment during one journey.';
comment on column {{data}}.containers.number is
    'Container number. Used again on later journeys, so never a key. From attributes.number.';
comment on column {{data}}.containers.ref_numbers is
    'The customer''s reference numbers. From attributes.ref_numbers.';
comment on column {{data}}.containers.equipment_type is
    'dry, reefer, open top, flat rack, bulk, tank, hard top; other values are kept. From '
    'attributes.equipment_type.';
comment on column {{data}}.containers.equipment_length is
    'Length in feet: 10, 20, 40, 45, 50. From attributes.equipment_length.';
comment on column {{data}}.containers.equipment_height is
    'standard or high_cube. From attributes.equipment_height.';
comment on column {{data}}.containers.weight_in_lbs is
    'Weight in pounds. From attributes.weight_in_lbs.';
comment on column {{data}}.containers.created_at is
    'When the service created the container. UTC. From attributes.created_at.';
comment on column {{data}}.containers.seal_number is
    'Seal number. From attributes.seal_number.';
comment on column {{data}}.containers.pickup_lfd is
    'Last free day as the service coalesces it from the deadlines, the line''s preferred. '
    'UTC; the local day is in container_import_deadlines. From attributes.pickup_lfd.';
comment on column {{data}}.containers.ssl_lfd is
    'The shipping line''s last free day under its older name; counts where pickup_lfd_line is '
    'not sent. UTC; local zone pod_timezone. From attributes.ssl_lfd.';
comment on column {{data}}.containers.pickup_appointment_at is
    'Pickup appointment at the terminal. UTC; local zone pod_timezone. From '
    'attributes.pickup_appointment_at.';
comment on column {{data}}.containers.availability_known is
    'Whether the service receives availability from the terminal. From '
    'attributes.availability_known.';
comment on column {{data}}.containers.available_for_pickup is
    'Available for pickup; means something only when availability_known. From '
    'attributes.available_for_pickup.';
comment on column {{data}}.containers.empty_out_at is
    'Empty container out, for loading. UTC; the zone is that of its transport event, else '
    'pol_timezone of the shipment. From attributes.empty_out_at.';
comment on column {{data}}.containers.pol_full_in_at is
    'Full container in, at the port of lading or an inland depot. UTC; the zone is that of its '
    'transport event, else pol_timezone of the shipment. From attributes.pol_full_in_at.';
comment on column {{data}}.containers.pol_vessel_loaded_at is
    'Loaded on the vessel at the port of lading. UTC; local zone pol_timezone of the shipment. '
    'From attributes.pol_vessel_loaded_at.';
comment on column {{data}}.containers.pol_vessel_departed_at is
    'Departure of the vessel from the port of lading. UTC; local zone pol_timezone of the '
    'shipment. From attributes.pol_vessel_departed_at.';
comment on column {{data}}.containers.pod_arrived_at is
    'Vessel arrival at the port of discharge. UTC; local zone pod_timezone. From '
    'attributes.pod_arrived_at.';
comment on column {{data}}.containers.pod_discharged_at is
    'Discharge at the port of discharge. UTC; local zone pod_timezone. From '
    'attributes.pod_discharged_at.';
comment on column {{data}}.containers.pod_full_out_at is
    'Full out of the terminal at the port of discharge; null for inland moves. UTC; local '
    'zone pod_timezone. From attributes.pod_full_out_at.';
comment on column {{data}}.containers.terminal_checked_at is
    'When the service last asked the terminal. UTC. From attributes.terminal_checked_at.';
comment on column {{data}}.containers.pod_full_out_chassis_number is
    'Chassis used at pickup at the port of discharge. From '
    'attributes.pod_full_out_chassis_number.';
comment on column {{data}}.containers.location_at_pod_terminal is
    'Where the container stands at the terminal, in the terminal''s words. From '
    'attributes.location_at_pod_terminal.';
comment on column {{data}}.containers.final_destination_full_out_at is
    'Pickup at the final destination of an inland move. UTC; local zone '
    'final_destination_timezone. From attributes.final_destination_full_out_at.';
comment on column {{data}}.containers.delivered_at is
    'Delivery. UTC; the zone is that of its transport event, else final_destination_timezone or '
    'pod_timezone. From attributes.delivered_at.';
comment on column {{data}}.containers.empty_terminated_at is
    'When the empty container was returned. UTC; local zone empty_terminated_timezone. From'
    ' attributes.empty_terminated_at.';
comment on column {{data}}.containers.holds_at_pod_terminal is
    'Holds now standing, as sent; as rows in container_holds. From '
    'attributes.holds_at_pod_terminal.';
comment on column {{data}}.containers.fees_at_pod_terminal is
    'Fees now standing, as sent; as rows in container_fees. From attributes.fees_at_pod_terminal.';
comment on column {{data}}.containers.ind_facility_holds is
    'Holds now standing at the inland facility, as sent; as rows in container_holds, with place '
    'ramp. From attributes.ind_facility_holds.';
comment on column {{data}}.containers.ind_facility_fees is
    'Fees now standing at the inland facility, as sent; as rows in container_fees, with place '
    'ramp. From attributes.ind_facility_fees.';
comment on column {{data}}.containers.pod_timezone is
    'IANA time zone of the port of discharge; null: times there are local wall time marked '
    'as UTC. From attributes.pod_timezone.';
comment on column {{data}}.containers.final_destination_timezone is
    'IANA time zone of the final destination. From attributes.final_destination_timezone.';
comment on column {{data}}.containers.empty_terminated_timezone is
    'IANA time zone of the place of the empty return. From attributes.empty_terminated_timezone.';
comment on column {{data}}.containers.pod_rail_carrier_scac is
    'Rail carrier of the pickup leg (beta at the service). From attributes.pod_rail_carrier_scac.';
comment on column {{data}}.containers.ind_rail_carrier_scac is
    'Rail carrier of the delivery leg (beta at the service). From '
    'attributes.ind_rail_carrier_scac.';
comment on column {{data}}.containers.pod_last_tracking_request_at is
    'When the service last asked about the port of discharge. UTC. From '
    'attributes.pod_last_tracking_request_at.';
comment on column {{data}}.containers.rail_last_tracking_request_at is
    'When the service last asked the rail carrier. UTC. Changes all the time: never a new '
    'version. From attributes.rail_last_tracking_request_at.';
comment on column {{data}}.containers.shipment_last_tracking_request_at is
    'When the service last asked about the shipment. UTC. From '
    'attributes.shipment_last_tracking_request_at.';
comment on column {{data}}.containers.pod_rail_loaded_at is
    'Loaded on rail at the port of discharge. UTC; local zone pod_timezone. From '
    'attributes.pod_rail_loaded_at.';
comment on column {{data}}.containers.pod_rail_departed_at is
    'Departed by rail from the port of discharge. UTC; local zone pod_timezone. From '
    'attributes.pod_rail_departed_at.';
comment on column {{data}}.containers.ind_eta_at is
    'Estimated arrival at the inland destination as the rail carrier reports it. UTC; local'
    ' zone final_destination_timezone. From attributes.ind_eta_at.';
comment on column {{data}}.containers.ind_ata_at is
    'Actual arrival at the inland destination as the rail carrier reports it. UTC; local '
    'zone final_destination_timezone. From attributes.ind_ata_at.';
comment on column {{data}}.containers.ind_rail_unloaded_at is
    'Unloaded from rail at the inland destination. UTC; local zone '
    'final_destination_timezone. From attributes.ind_rail_unloaded_at.';
comment on column {{data}}.containers.ind_facility_lfd_on is
    'Last free day at the inland facility; deprecated at the service, counts where pickup_lfd_rail '
    'is not sent. UTC; local zone final_destination_timezone. From '
    'attributes.ind_facility_lfd_on.';
comment on column {{data}}.containers.import_deadlines is
    'The deadlines as sent; as rows in container_import_deadlines. From '
    'attributes.import_deadlines.';
comment on column {{data}}.containers.current_status is
    'new, on_ship, available, not_available, grounded, on_rail, picked_up, off_dock, '
    'delivered, dropped, loaded, empty_returned, awaiting_inland_transfer; other values are'
    ' kept. From attributes.current_status.';
comment on column {{data}}.containers.shipment_id is
    'Shipment; shipments. A container can move to another shipment. From relationships.shipment.';
comment on column {{data}}.containers.pickup_facility_id is
    'Facility where it is picked up; terminals. From relationships.pickup_facility.';
comment on column {{data}}.containers.pod_terminal_id is
    'Terminal at the port of discharge; terminals. From relationships.pod_terminal.';
comment on column {{data}}.containers.transport_event_ids is
    'Ids of the container''s transport events. From relationships.transport_events.';
comment on column {{data}}.containers.raw_event_ids is
    'Ids of the container''s raw events. From relationships.raw_events.';
comment on column {{data}}.containers.pickup_lfd_terminal is
    'Last free day before demurrage at the terminal. UTC; local zone pod_timezone. From '
    'attributes.import_deadlines.pickup_lfd_terminal.';
comment on column {{data}}.containers.pickup_lfd_rail is
    'Last free day at the inland destination as the rail carrier says. UTC; local zone '
    'final_destination_timezone. From attributes.import_deadlines.pickup_lfd_rail.';
comment on column {{data}}.containers.pickup_lfd_line is
    'Last free day as the shipping line says; depends on the line. UTC; local zone '
    'final_destination_timezone or pod_timezone. From '
    'attributes.import_deadlines.pickup_lfd_line.';
comment on column {{data}}.containers.import_deadline_sources is
    'What import_deadlines says beyond one day a key, as an object by kind: the day (at, or on '
    'where a bare date was sent), place, and details sent with it. Null where there is no more. '
    'As rows in container_import_deadlines. From attributes.import_deadlines.';
comment on column {{data}}.containers._observed_at is
    'When the source can have known this: start of the request on the source''s clock, or '
    'the notification''s own time. A row never goes back behind it. UTC.';
comment on column {{data}}.containers._first_seen_at is
    '_observed_at of the first sighting. UTC.';
comment on column {{data}}.containers._changed_at is
    '_observed_at of the last material change: any column but our own, time stamps of '
    'checking, lists of ids and _unmapped. UTC.';
comment on column {{data}}.containers._fingerprint is
    'Hash of the record as last written; equal hashes mean that nothing has to be written.';
comment on column {{data}}.containers._deleted_at is
    'Tombstone: when the record was found gone at the source; null while it lives. UTC.';
comment on column {{data}}.containers._sync_run_id is
    'The run that last wrote this row; sync_runs in the bookkeeping schema.';
comment on column {{data}}.containers._unmapped is
    'Everything the source sent that has no column, by attribute name; other parts of the '
    'record as relationships.<name>, links.<name>, record.<name>; an attribute with a dot '
    'in its name as attributes.<name>.';
comment on column {{data}}.containers._coercions is
    'Values not stored as sent, by column (or _unmapped): why, and the original as JSON text.';
comment on column {{data}}.containers._digest is
    'Hash of the bytes the record was last written from: lets an unchanged record be recognised '
    'without parsing. Null until a run records it.';

create table {{data}}.container_import_deadlines (
    container_id text collate "C" not null,
    kind text collate "C" not null,
    place text not null default 'port',
    deadline_at timestamptz,
    time_zone text,
    local_date date,
    is_zone_known boolean not null,
    details jsonb,
    _observed_at timestamptz not null,
    _first_seen_at timestamptz not null,
    _sync_run_id bigint,
    constraint container_import_deadlines_pkey primary key (container_id, kind)
);

comment on table {{data}}.container_import_deadlines is
    'One row per container and kind of deadline that is set.';
comment on column {{data}}.container_import_deadlines.container_id is
    'Container; containers.';
comment on column {{data}}.container_import_deadlines.kind is
    'Which deadline: pickup_lfd (coalesced by the service), pickup_lfd_terminal, '
    'pickup_lfd_rail, pickup_lfd_line; with .original, .current, .calculated or .unified the day '
    'of that name that the source says beside; other names of import_deadlines as sent.';
comment on column {{data}}.container_import_deadlines.place is
    'Where the day applies: port (of discharge) or ramp (the inland facility).';
comment on column {{data}}.container_import_deadlines.deadline_at is
    'The deadline as an instant, mostly local midnight of the day; null when the source '
    'sent a bare date. UTC.';
comment on column {{data}}.container_import_deadlines.time_zone is
    'IANA time zone that applies to this kind of deadline; null: the instant is local wall '
    'time marked as UTC.';
comment on column {{data}}.container_import_deadlines.local_date is
    'The last free day as a calendar day at the place; null when the zone is not known to '
    'the time zone database.';
comment on column {{data}}.container_import_deadlines.is_zone_known is
    'False when the zone is null or not in the time zone database.';
comment on column {{data}}.container_import_deadlines.details is
    'What was sent with the day, as sent: free days, start event, holidays, business days. '
    'Null: nothing.';
comment on column {{data}}.container_import_deadlines._observed_at is
    '_observed_at of the container''s row this was derived from. UTC.';
comment on column {{data}}.container_import_deadlines._first_seen_at is
    'When this row first stood. UTC.';
comment on column {{data}}.container_import_deadlines._sync_run_id is
    'The run that last wrote this row; sync_runs in the bookkeeping schema.';

create table {{data}}.container_holds (
    container_id text collate "C" not null,
    hold_key text collate "C" not null,
    place text not null default 'port',
    name text,
    status text,
    description text,
    detail text,
    position integer,
    _unmapped jsonb,
    _coercions jsonb,
    _observed_at timestamptz not null,
    _first_seen_at timestamptz not null,
    _sync_run_id bigint,
    constraint container_holds_pkey primary key (container_id, hold_key)
);

comment on table {{data}}.container_holds is
    'One row per hold now standing on a container; a cleared hold is gone from here and '
    'closed in container_hold_history.';
comment on column {{data}}.container_holds.container_id is
    'Container; containers.';
comment on column {{data}}.container_holds.hold_key is
    'Distinguishes the holds of one container: by place, name and description, then by position.';
comment on column {{data}}.container_holds.place is
    'Where it holds the container: port (of discharge) or ramp (the inland facility).';
comment on column {{data}}.container_holds.name is
    'What holds the container, for example customs or freight.';
comment on column {{data}}.container_holds.status is
    'pending or hold; other values are kept.';
comment on column {{data}}.container_holds.description is
    'The terminal''s own words.';
comment on column {{data}}.container_holds.detail is
    'More of the terminal''s own words.';
comment on column {{data}}.container_holds.position is
    'Place in the source''s list, from 0.';
comment on column {{data}}.container_holds._unmapped is
    'Fields of the item that have no column.';
comment on column {{data}}.container_holds._coercions is
    'Values not stored as sent, by column: why, and the original as JSON text.';
comment on column {{data}}.container_holds._observed_at is
    '_observed_at of the container''s row this was derived from. UTC.';
comment on column {{data}}.container_holds._first_seen_at is
    'When this row first stood. UTC.';
comment on column {{data}}.container_holds._sync_run_id is
    'The run that last wrote this row; sync_runs in the bookkeeping schema.';

create table {{data}}.container_fees (
    container_id text collate "C" not null,
    fee_key text collate "C" not null,
    place text not null default 'port',
    type text,
    amount numeric,
    currency_code text,
    description text,
    is_total boolean not null,
    position integer,
    _unmapped jsonb,
    _coercions jsonb,
    _observed_at timestamptz not null,
    _first_seen_at timestamptz not null,
    _sync_run_id bigint,
    constraint container_fees_pkey primary key (container_id, fee_key)
);

comment on table {{data}}.container_fees is
    'One row per fee now standing on a container.';
comment on column {{data}}.container_fees.container_id is
    'Container; containers.';
comment on column {{data}}.container_fees.fee_key is
    'Distinguishes the fees of one container: by place, type and currency, then by position.';
comment on column {{data}}.container_fees.place is
    'Where it is charged: port (of discharge) or ramp (the inland facility).';
comment on column {{data}}.container_fees.type is
    'demurrage, exam, extended_dwell_time, other, total; other values are kept.';
comment on column {{data}}.container_fees.amount is
    'Amount in the currency, exact.';
comment on column {{data}}.container_fees.currency_code is
    'ISO 4217 code; null: local currency, not said.';
comment on column {{data}}.container_fees.description is
    'The words of the facility on the fee.';
comment on column {{data}}.container_fees.is_total is
    'True for a line that sums the others; never add it to them.';
comment on column {{data}}.container_fees.position is
    'Place in the source''s list, from 0.';
comment on column {{data}}.container_fees._unmapped is
    'Fields of the item that have no column.';
comment on column {{data}}.container_fees._coercions is
    'Values not stored as sent, by column: why, and the original as JSON text.';
comment on column {{data}}.container_fees._observed_at is
    '_observed_at of the container''s row this was derived from. UTC.';
comment on column {{data}}.container_fees._first_seen_at is
    'When this row first stood. UTC.';
comment on column {{data}}.container_fees._sync_run_id is
    'The run that last wrote this row; sync_runs in the bookkeeping schema.';

create table {{data}}.transport_events (
    container_id text collate "C" not null,
    transport_event_id text collate "C" not null,
    event text,
    voyage_number text,
    timestamp timestamptz,
    timezone text,
    location_locode text,
    created_at timestamptz,
    data_source text,
    invalidated_at timestamptz,
    value text,
    value_timestamp timestamptz,
    shipment_id text collate "C",
    location_id text collate "C",
    location_type text,
    vessel_id text collate "C",
    terminal_id text collate "C",
    terminal_type text,
    source_event_id text collate "C",
    previous_version_id text collate "C",
    is_estimated boolean,
    _observed_at timestamptz not null,
    _first_seen_at timestamptz not null,
    _changed_at timestamptz not null,
    _fingerprint text collate "C",
    _deleted_at timestamptz,
    _sync_run_id bigint,
    _unmapped jsonb,
    _coercions jsonb,
    _digest text collate "C",
    constraint transport_events_pkey primary key (container_id, transport_event_id)
);

comment on table {{data}}.transport_events is
    'One row per transport event of a container. Withdrawn ones are tombstoned, never deleted.';
comment on column {{data}}.transport_events.container_id is
    'Container the transport event belongs to. From relationships.container, or from the request.';
comment on column {{data}}.transport_events.transport_event_id is
    'The service''s id of the transport event.';
comment on column {{data}}.transport_events.event is
    'Kind of transport event, for example container.transport.vessel_arrived; unknown names'
    ' are kept. From attributes.event.';
comment on column {{data}}.transport_events.voyage_number is
    'Voyage number. From attributes.voyage_number.';
comment on column {{data}}.transport_events.timestamp is
    'When it happened or is expected. UTC; local zone timezone. From attributes.timestamp.';
comment on column {{data}}.transport_events.timezone is
    'IANA time zone of the place; null on some, most often estimated ones. From '
    'attributes.timezone.';
comment on column {{data}}.transport_events.location_locode is
    'UN/LOCODE of the place; null on some, most often estimated ones. From '
    'attributes.location_locode.';
comment on column {{data}}.transport_events.created_at is
    'When the service recorded it. UTC. From attributes.created_at.';
comment on column {{data}}.transport_events.data_source is
    'shipping_line, terminal, ais, rail, t49_operations_team, user_input; other values are kept. '
    'From attributes.data_source.';
comment on column {{data}}.transport_events.invalidated_at is
    'When the service found that it is not true; null while it holds. UTC. From '
    'attributes.invalidated_at.';
comment on column {{data}}.transport_events.value is
    'What a *.changed event says the thing became: the new last free day or appointment, as '
    'sent. From attributes.value.';
comment on column {{data}}.transport_events.value_timestamp is
    'value as an instant, as the service says it. UTC; local zone timezone. From '
    'attributes.value_timestamp.';
comment on column {{data}}.transport_events.shipment_id is
    'Shipment; shipments. From relationships.shipment.';
comment on column {{data}}.transport_events.location_id is
    'Place; ports or metro_areas by location_type. From relationships.location.';
comment on column {{data}}.transport_events.location_type is
    'Resource type that location_id points to. From relationships.location.';
comment on column {{data}}.transport_events.vessel_id is
    'Vessel; vessels. From relationships.vessel.';
comment on column {{data}}.transport_events.terminal_id is
    'Terminal; terminals or rail_terminals by terminal_type. From relationships.terminal.';
comment on column {{data}}.transport_events.terminal_type is
    'Resource type that terminal_id points to. From relationships.terminal.';
comment on column {{data}}.transport_events.source_event_id is
    'The service''s id of the raw event it was made of. From relationships.source_event.';
comment on column {{data}}.transport_events.previous_version_id is
    'Transport event that it replaces; transport_events. From relationships.previous_version.';
comment on column {{data}}.transport_events.is_estimated is
    'True when it is expected and has not happened: the name of the event contains .estimated.';
comment on column {{data}}.transport_events._observed_at is
    'When the source can have known this: start of the request on the source''s clock, or '
    'the notification''s own time. A row never goes back behind it. UTC.';
comment on column {{data}}.transport_events._first_seen_at is
    '_observed_at of the first sighting. UTC.';
comment on column {{data}}.transport_events._changed_at is
    '_observed_at of the last material change: any column but our own, time stamps of '
    'checking, lists of ids and _unmapped. UTC.';
comment on column {{data}}.transport_events._fingerprint is
    'Hash of the record as last written; equal hashes mean that nothing has to be written.';
comment on column {{data}}.transport_events._deleted_at is
    'Tombstone: when the record was found gone at the source; null while it lives. UTC.';
comment on column {{data}}.transport_events._sync_run_id is
    'The run that last wrote this row; sync_runs in the bookkeeping schema.';
comment on column {{data}}.transport_events._unmapped is
    'Everything the source sent that has no column, by attribute name; other parts of the '
    'record as relationships.<name>, links.<name>, record.<name>; an attribute with a dot '
    'in its name as attributes.<name>.';
comment on column {{data}}.transport_events._coercions is
    'Values not stored as sent, by column (or _unmapped): why, and the original as JSON text.';
comment on column {{data}}.transport_events._digest is
    'Hash of the bytes the record was last written from: lets an unchanged record be recognised '
    'without parsing. Null until a run records it.';

create table {{data}}.tracking_requests (
    tracking_request_id text collate "C" not null,
    request_number text,
    request_type text,
    scac text,
    ref_numbers text[],
    created_at timestamptz,
    updated_at timestamptz,
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
    _observed_at timestamptz not null,
    _first_seen_at timestamptz not null,
    _changed_at timestamptz not null,
    _fingerprint text collate "C",
    _deleted_at timestamptz,
    _sync_run_id bigint,
    _unmapped jsonb,
    _coercions jsonb,
    _digest text collate "C",
    constraint tracking_requests_pkey primary key (tracking_request_id)
);

comment on table {{data}}.tracking_requests is
    'One row per tracking request.';
comment on column {{data}}.tracking_requests.tracking_request_id is
    'The service''s id of the tracking request.';
comment on column {{data}}.tracking_requests.request_number is
    'The number to be tracked. From attributes.request_number.';
comment on column {{data}}.tracking_requests.request_type is
    'What kind of number it is: bill_of_lading, booking_number, container; other values are kept. '
    'From attributes.request_type.';
comment on column {{data}}.tracking_requests.scac is
    'Standard carrier alpha code of the shipping line that was asked. From attributes.scac.';
comment on column {{data}}.tracking_requests.ref_numbers is
    'The customer''s reference numbers. From attributes.ref_numbers.';
comment on column {{data}}.tracking_requests.created_at is
    'When it was made. UTC. From attributes.created_at.';
comment on column {{data}}.tracking_requests.updated_at is
    'When it last changed. UTC. From attributes.updated_at.';
comment on column {{data}}.tracking_requests.status is
    'pending, awaiting_manifest, created, failed, tracking_stopped; other values are kept. From '
    'attributes.status.';
comment on column {{data}}.tracking_requests.failed_reason is
    'Why it failed; null when it did not. From attributes.failed_reason.';
comment on column {{data}}.tracking_requests.is_retrying is
    'Whether the service tries again. From attributes.is_retrying.';
comment on column {{data}}.tracking_requests.retry_count is
    'How often the service has tried. Changes with every try: no material change. From '
    'attributes.retry_count.';
comment on column {{data}}.tracking_requests.tags is
    'Tags of the request. From attributes.tags.';
comment on column {{data}}.tracking_requests.shipment_tags is
    'Tags for the shipment that it becomes. From attributes.shipment_tags.';
comment on column {{data}}.tracking_requests.tracked_object_id is
    'What it became; shipments when tracked_object_type is shipment. From '
    'relationships.tracked_object.';
comment on column {{data}}.tracking_requests.tracked_object_type is
    'Resource type that tracked_object_id points to. From relationships.tracked_object.';
comment on column {{data}}.tracking_requests.customer_id is
    'The service''s id of the customer it was made for. From relationships.customer.';
comment on column {{data}}.tracking_requests.customer_type is
    'Resource type that customer_id points to. From relationships.customer.';
comment on column {{data}}.tracking_requests.user_id is
    'The service''s id of the user who made it. From relationships.user.';
comment on column {{data}}.tracking_requests._observed_at is
    'When the source can have known this: start of the request on the source''s clock, or '
    'the notification''s own time. A row never goes back behind it. UTC.';
comment on column {{data}}.tracking_requests._first_seen_at is
    '_observed_at of the first sighting. UTC.';
comment on column {{data}}.tracking_requests._changed_at is
    '_observed_at of the last material change: any column but our own, time stamps of '
    'checking, lists of ids and _unmapped. UTC.';
comment on column {{data}}.tracking_requests._fingerprint is
    'Hash of the record as last written; equal hashes mean that nothing has to be written.';
comment on column {{data}}.tracking_requests._deleted_at is
    'Tombstone: when the record was found gone at the source; null while it lives. UTC.';
comment on column {{data}}.tracking_requests._sync_run_id is
    'The run that last wrote this row; sync_runs in the bookkeeping schema.';
comment on column {{data}}.tracking_requests._unmapped is
    'Everything the source sent that has no column, by attribute name; other parts of the '
    'record as relationships.<name>, links.<name>, record.<name>; an attribute with a dot '
    'in its name as attributes.<name>.';
comment on column {{data}}.tracking_requests._coercions is
    'Values not stored as sent, by column (or _unmapped): why, and the original as JSON text.';
comment on column {{data}}.tracking_requests._digest is
    'Hash of the bytes the record was last written from: lets an unchanged record be recognised '
    'without parsing. Null until a run records it.';

-- Deadlines, holds and fees are a function of the container's row: of the stored one, and of any
-- version of it. Functions, so that every writer, and a later version of them, makes the same rows
-- of the same container. A change of their text has all of them made anew: see derivations.

create function {{sync}}.day_of(written text) returns date
language sql stable parallel safe
as $function$
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

comment on function {{sync}}.day_of is
    'The day that a text YYYY-MM-DD names; null for any other text. For tracking-sync.';

-- Nearly no container has any: made only where there are some.
create function {{sync}}.source_deadlines_of(
    sources jsonb,
    pod_timezone text,
    final_destination_timezone text,
    known_pod_timezone text,
    known_final_destination_timezone text
)
returns table (
    kind text,
    place text,
    deadline_at timestamptz,
    time_zone text,
    local_date date,
    is_zone_known boolean,
    details jsonb
)
language sql stable parallel safe
as $function$
    select
        said.kind,
        said.place,
        said.deadline_at,
        said.time_zone,
        case
            when said.deadline_at is null then {{sync}}.day_of(said.bare)
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

comment on function {{sync}}.source_deadlines_of is
    'The deadlines that a container''s import_deadline_sources name beside those of its columns. '
    'For tracking-sync.';

-- The terminal's, the line's and the coalesced last free day are days at the port of discharge, in
-- pod_timezone; the railway's is the day at the inland ramp, in final_destination_timezone. The
-- line's day and the one at the ramp have each an older name, which counts where the newer one is
-- not sent. Who calls it looks up which of the zones time_zones knows, for a function that reads no
-- table can run wherever the rows of a distributed warehouse are.
create function {{sync}}.deadlines_of(
    pickup_lfd timestamptz,
    pickup_lfd_terminal timestamptz,
    pickup_lfd_rail timestamptz,
    pickup_lfd_line timestamptz,
    ind_facility_lfd_on timestamptz,
    ssl_lfd timestamptz,
    sources jsonb,
    pod_timezone text,
    final_destination_timezone text,
    coercions jsonb,
    known_pod_timezone text,
    known_final_destination_timezone text
)
returns table (
    kind text,
    place text,
    deadline_at timestamptz,
    time_zone text,
    local_date date,
    is_zone_known boolean,
    details jsonb
)
language sql stable parallel safe
as $function$
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
        values
            ('pickup_lfd', 'port', $1, $8, 'pickup_lfd'),
            ('pickup_lfd_terminal', 'port', $2, $8, 'pickup_lfd_terminal'),
            (
                'pickup_lfd_rail',
                'ramp',
                case when $10 ? 'pickup_lfd_rail' then $3 else coalesce($3, $5) end,
                $9,
                case
                    when $10 ? 'pickup_lfd_rail' then 'pickup_lfd_rail'
                    else 'ind_facility_lfd_on'
                end
            ),
            (
                'pickup_lfd_line',
                'port',
                case when $10 ? 'pickup_lfd_line' then $4 else coalesce($4, $6) end,
                $8,
                case when $10 ? 'pickup_lfd_line' then 'pickup_lfd_line' else 'ssl_lfd' end
            )
    ) as sent (kind, place, deadline_at, time_zone, column_name)
    cross join lateral (
        select case sent.place when 'ramp' then $12 else $11 end as name
    ) as zone
    -- A deadline that was sent as a bare date has no instant, yet its day is exactly what was
    -- meant.
    cross join lateral (
        select {{sync}}.day_of(btrim($10 -> sent.column_name ->> 'original', '"')) as day
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
    from {{sync}}.source_deadlines_of($7, $8, $9, $11, $12) as other
    where $7 is not null
$function$;

comment on function {{sync}}.deadlines_of is
    'The rows of container_import_deadlines that a container''s columns make. known_…: the two zones '
    'again, null where time_zones has them not. For tracking-sync.';

create function {{sync}}.items_of(list jsonb)
returns table (item jsonb, "position" integer)
language sql stable parallel safe
as $function$
    select
        case jsonb_typeof(element) when 'object' then element
            else jsonb_build_object('element', element)
        end,
        ordinality::integer - 1
    from jsonb_array_elements(
        case jsonb_typeof(list) when 'array' then list else '[]' end
    ) with ordinality as listed (element, ordinality)
$function$;

comment on function {{sync}}.items_of is
    'The elements of a list; one that is no object stands as the member "element". For '
    'tracking-sync.';

create function {{sync}}.text_of(sent jsonb) returns text
language sql stable parallel safe
as $function$
    select case when jsonb_typeof(sent) in ('string', 'number', 'boolean') then sent #>> '{}' end
$function$;

comment on function {{sync}}.text_of is
    'A value as text; null for a list or an object. For tracking-sync.';

create function {{sync}}.refusal(sent jsonb, reason text) returns jsonb
language sql stable parallel safe
as $function$
    select case
        when reason is not null
            then jsonb_build_object('reason', reason, 'original', sent::text)
    end
$function$;

comment on function {{sync}}.refusal is
    'An entry of _coercions: why a value was not stored as sent, and the value. For tracking-sync.';

create function {{sync}}.text_refusal(sent jsonb) returns jsonb
language sql stable parallel safe
as $function$
    select {{sync}}.refusal(
        sent, case when jsonb_typeof(sent) in ('array', 'object') then 'not a text' end
    )
$function$;

comment on function {{sync}}.text_refusal is
    'Why a value is no text; null when it is one. For tracking-sync.';

create function {{sync}}.item_key(first jsonb, second jsonb) returns text
language sql stable parallel safe
as $function$
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

comment on function {{sync}}.item_key is
    'A short name for two values that tell an element of a list from others. For tracking-sync.';

create function {{sync}}.list_length(list jsonb) returns integer
language sql stable parallel safe
as $function$
    select case jsonb_typeof(list) when 'array' then jsonb_array_length(list) else 0 end
$function$;

comment on function {{sync}}.list_length is
    'The number of elements of a list; 0 of what is none. For tracking-sync.';

create function {{sync}}.joined_lists(port jsonb, ramp jsonb) returns jsonb
language sql stable parallel safe
as $function$
    select case
        when ramp is null then port
        else
            case jsonb_typeof(port) when 'array' then port else '[]' end
            || case jsonb_typeof(ramp) when 'array' then ramp else '[]' end
    end
$function$;

comment on function {{sync}}.joined_lists is
    'The elements of a list at the port, then of one at the ramp. For tracking-sync.';

-- Two holds of one name are distinguished by description, then by position; the status may change
-- without it being another hold.
create function {{sync}}.holds_of(holds jsonb, ramp_holds jsonb)
returns table (
    hold_key text,
    place text,
    name text,
    status text,
    description text,
    detail text,
    "position" integer,
    _unmapped jsonb,
    _coercions jsonb
)
language sql stable parallel safe
as $function$
    select
        case keyed.place when 'ramp' then 'ramp-' else '' end
        || keyed.item_key
        || case when keyed.nth > 1 then '-' || keyed.nth::text else '' end,
        keyed.place,
        {{sync}}.text_of(keyed.item -> 'name'),
        {{sync}}.text_of(keyed.item -> 'status'),
        {{sync}}.text_of(keyed.item -> 'description'),
        {{sync}}.text_of(keyed.item -> 'detail'),
        keyed.position,
        nullif(keyed.item - array['name', 'status', 'description', 'detail'], '{}'),
        nullif(
            jsonb_strip_nulls(
                jsonb_build_object(
                    'name', {{sync}}.text_refusal(keyed.item -> 'name'),
                    'status', {{sync}}.text_refusal(keyed.item -> 'status'),
                    'description', {{sync}}.text_refusal(keyed.item -> 'description'),
                    'detail', {{sync}}.text_refusal(keyed.item -> 'detail')
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
                    when ramp_holds is null or listed.position < {{sync}}.list_length(holds)
                        then listed.position
                    else listed.position - {{sync}}.list_length(holds)
                end as position,
                case
                    when ramp_holds is null or listed.position < {{sync}}.list_length(holds)
                        then 'port'
                    else 'ramp'
                end as place,
                {{sync}}.item_key(listed.item -> 'name', listed.item -> 'description') as item_key
            from {{sync}}.items_of({{sync}}.joined_lists(holds, ramp_holds)) as listed
        ) as named
    ) as keyed
$function$;

comment on function {{sync}}.holds_of is
    'The rows of container_holds that a container''s list of holds makes. For tracking-sync.';

-- Fees of one type are distinguished by currency, then by position. An amount that is no decimal
-- number, or a number of more than a thousand digits, is none.
create function {{sync}}.fees_of(fees jsonb, ramp_fees jsonb)
returns table (
    fee_key text,
    place text,
    type text,
    amount numeric,
    currency_code text,
    description text,
    is_total boolean,
    "position" integer,
    _unmapped jsonb,
    _coercions jsonb
)
language sql stable parallel safe
as $function$
    select
        case keyed.place when 'ramp' then 'ramp-' else '' end
        || keyed.item_key
        || case when keyed.nth > 1 then '-' || keyed.nth::text else '' end,
        keyed.place,
        {{sync}}.text_of(keyed.item -> 'type'),
        case when judged.reason is null then keyed.digits::numeric end,
        {{sync}}.text_of(keyed.item -> 'currency_code'),
        {{sync}}.text_of(keyed.item -> 'description'),
        coalesce(keyed.item -> 'type' = '"total"', false),
        keyed.position,
        nullif(keyed.item - array['type', 'amount', 'currency_code', 'description'], '{}'),
        nullif(
            jsonb_strip_nulls(
                jsonb_build_object(
                    'type', {{sync}}.text_refusal(keyed.item -> 'type'),
                    'amount', {{sync}}.refusal(keyed.item -> 'amount', judged.reason),
                    'currency_code', {{sync}}.text_refusal(keyed.item -> 'currency_code'),
                    'description', {{sync}}.text_refusal(keyed.item -> 'description')
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
                    when ramp_fees is null or listed.position < {{sync}}.list_length(fees)
                        then listed.position
                    else listed.position - {{sync}}.list_length(fees)
                end as position,
                case
                    when ramp_fees is null or listed.position < {{sync}}.list_length(fees)
                        then 'port'
                    else 'ramp'
                end as place,
                {{sync}}.item_key(listed.item -> 'type', listed.item -> 'currency_code') as item_key
            from {{sync}}.items_of({{sync}}.joined_lists(fees, ramp_fees)) as listed
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

comment on function {{sync}}.fees_of is
    'The rows of container_fees that a container''s list of fees makes. For tracking-sync.';

create index containers_shipment_id_idx on {{data}}.containers (shipment_id);

create index containers_pod_terminal_id_idx on {{data}}.containers (pod_terminal_id);

-- Hash indexes: numbers come from outside and may be longer than a btree entry can be.
create index containers_number_idx on {{data}}.containers using hash (number);

create index shipments_bill_of_lading_number_idx
    on {{data}}.shipments using hash (bill_of_lading_number);

create index tracking_requests_tracked_object_id_idx
    on {{data}}.tracking_requests (tracked_object_id);

-- A notification may name a transport event and not its container. Costs 3.6 µs a row, as much as
-- the key itself.
create index transport_events_transport_event_id_idx
    on {{data}}.transport_events (transport_event_id);
