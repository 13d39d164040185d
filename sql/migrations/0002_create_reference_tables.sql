-- Reference resources: places, terminals, vessels, custom fields, the webhook catalogue, and what has no table of its own.
-- Placeholders {{data}}, {{sync}}, {{analytics}}, {{datasync}} are the schema names derived from TRACKING_SCHEMA.

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
    _observed_at timestamptz not null,
    _first_seen_at timestamptz not null,
    _changed_at timestamptz not null,
    _fingerprint text collate "C",
    _deleted_at timestamptz,
    _sync_run_id bigint,
    _unmapped jsonb,
    _coercions jsonb,
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
    port_id text collate "C",
    _observed_at timestamptz not null,
    _first_seen_at timestamptz not null,
    _changed_at timestamptz not null,
    _fingerprint text collate "C",
    _deleted_at timestamptz,
    _sync_run_id bigint,
    _unmapped jsonb,
    _coercions jsonb,
    constraint terminals_pkey primary key (terminal_id)
);

comment on table {{data}}.terminals is
    'One row per marine terminal.';
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

create table {{data}}.rail_terminals (
    rail_terminal_id text collate "C" not null,
    name text,
    nickname text,
    firms_code text,
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
    constraint vessels_pkey primary key (vessel_id)
);

comment on table {{data}}.vessels is
    'One row per vessel, with its last known position.';
comment on column {{data}}.vessels.vessel_id is
    'The service''s id of the vessel.';
comment on column {{data}}.vessels.name is
    'Name. From attributes.name.';
comment on column {{data}}.vessels.imo is
    'IMO number. From attributes.imo.';
comment on column {{data}}.vessels.mmsi is
    'Maritime mobile service identity. From attributes.mmsi.';
comment on column {{data}}.vessels.latitude is
    'Last known latitude in degrees, north positive. From attributes.latitude.';
comment on column {{data}}.vessels.longitude is
    'Last known longitude in degrees, east positive. From attributes.longitude.';
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
