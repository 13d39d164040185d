-- Custom fields are lists of their own: definitions, options, and values with typed columns. A value
-- is known by the service's id of it; rows of before are kept, and read again by the next sync.
-- Placeholders {{data}}, {{sync}}, {{analytics}}, {{asOf}}, {{stored}}, {{datasync}} are the schema
-- names derived from TRACKING_SCHEMA.

create table {{data}}.custom_field_definitions (
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
    _observed_at timestamptz not null,
    _first_seen_at timestamptz not null,
    _changed_at timestamptz not null,
    _fingerprint text collate "C",
    _deleted_at timestamptz,
    _sync_run_id bigint,
    _unmapped jsonb,
    _coercions jsonb,
    _digest text collate "C",
    constraint custom_field_definitions_pkey primary key (custom_field_definition_id)
);

comment on table {{data}}.custom_field_definitions is
    'One row per custom field that the account has defined.';
comment on column {{data}}.custom_field_definitions.custom_field_definition_id is
    'The service''s id of the definition.';
comment on column {{data}}.custom_field_definitions.entity_type is
    'What has the field: Shipment, Container or TrackingRequest. From attributes.entity_type.';
comment on column {{data}}.custom_field_definitions.api_slug is
    'Name of the field in requests, unique for its entity type. From attributes.api_slug.';
comment on column {{data}}.custom_field_definitions.display_name is
    'Name of the field as shown to people. From attributes.display_name.';
comment on column {{data}}.custom_field_definitions.data_type is
    'Type of its values: short_text, number, date, datetime, boolean, enum, enum_multi or '
    'reference. Decides into which column of custom_fields a value is cast. From '
    'attributes.data_type.';
comment on column {{data}}.custom_field_definitions.description is
    'What the field is for. From attributes.description.';
comment on column {{data}}.custom_field_definitions.reference_type is
    'What values of the type reference point to. From attributes.reference_type.';
comment on column {{data}}.custom_field_definitions.default_format is
    'How the service shows values. From attributes.default_format.';
comment on column {{data}}.custom_field_definitions.validation is
    'What the service checks of new values, as sent. From attributes.validation.';
comment on column {{data}}.custom_field_definitions.default_value is
    'Value of a new entity, as sent. From attributes.default_value.';
comment on column {{data}}.custom_field_definitions.sensitive is
    'True where values are not stored unless TRACKING_SENSITIVE_FIELDS names the slug; null '
    'where the service does not say. From attributes.sensitive.';
comment on column {{data}}.custom_field_definitions._observed_at is
    'When the source can have known this: start of the request on the source''s clock, or '
    'the notification''s own time. A row never goes back behind it. UTC.';
comment on column {{data}}.custom_field_definitions._first_seen_at is
    '_observed_at of the first sighting. UTC.';
comment on column {{data}}.custom_field_definitions._changed_at is
    '_observed_at of the last material change: any column but our own, time stamps of '
    'checking, lists of ids and _unmapped. UTC.';
comment on column {{data}}.custom_field_definitions._fingerprint is
    'Hash of the record as last written; equal hashes mean that nothing has to be written.';
comment on column {{data}}.custom_field_definitions._deleted_at is
    'Tombstone: when the record was found gone at the source; null while it lives. UTC.';
comment on column {{data}}.custom_field_definitions._sync_run_id is
    'The run that last wrote this row; sync_runs in the bookkeeping schema.';
comment on column {{data}}.custom_field_definitions._unmapped is
    'Everything the source sent that has no column, by attribute name; other parts of the '
    'record as relationships.<name>, links.<name>, record.<name>; an attribute with a dot '
    'in its name as attributes.<name>.';
comment on column {{data}}.custom_field_definitions._coercions is
    'Values not stored as sent, by column (or _unmapped): why, and the original as JSON text.';
comment on column {{data}}.custom_field_definitions._digest is
    'Hash of the bytes the record was last written from: lets an unchanged record be recognised '
    'without parsing. Null until a run records it.';

create table {{data}}.custom_field_options (
    custom_field_option_id text collate "C" not null,
    label text,
    value jsonb,
    position integer,
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
    constraint custom_field_options_pkey primary key (custom_field_option_id)
);

comment on table {{data}}.custom_field_options is
    'One row per value that a custom field of the type enum or enum_multi may take.';
comment on column {{data}}.custom_field_options.custom_field_option_id is
    'The service''s id of the option.';
comment on column {{data}}.custom_field_options.label is
    'Value as shown to people. From attributes.label.';
comment on column {{data}}.custom_field_options.value is
    'Value as custom_fields.value holds it. From attributes.value.';
comment on column {{data}}.custom_field_options.position is
    'Place among the options of the field. From attributes.position.';
comment on column {{data}}.custom_field_options.definition_id is
    'Custom field that may take the value; custom_field_definitions. From '
    'relationships.definition.';
comment on column {{data}}.custom_field_options._observed_at is
    'When the source can have known this: start of the request on the source''s clock, or '
    'the notification''s own time. A row never goes back behind it. UTC.';
comment on column {{data}}.custom_field_options._first_seen_at is
    '_observed_at of the first sighting. UTC.';
comment on column {{data}}.custom_field_options._changed_at is
    '_observed_at of the last material change: any column but our own, time stamps of '
    'checking, lists of ids and _unmapped. UTC.';
comment on column {{data}}.custom_field_options._fingerprint is
    'Hash of the record as last written; equal hashes mean that nothing has to be written.';
comment on column {{data}}.custom_field_options._deleted_at is
    'Tombstone: when the record was found gone at the source; null while it lives. UTC.';
comment on column {{data}}.custom_field_options._sync_run_id is
    'The run that last wrote this row; sync_runs in the bookkeeping schema.';
comment on column {{data}}.custom_field_options._unmapped is
    'Everything the source sent that has no column, by attribute name; other parts of the '
    'record as relationships.<name>, links.<name>, record.<name>; an attribute with a dot '
    'in its name as attributes.<name>.';
comment on column {{data}}.custom_field_options._coercions is
    'Values not stored as sent, by column (or _unmapped): why, and the original as JSON text.';
comment on column {{data}}.custom_field_options._digest is
    'Hash of the bytes the record was last written from: lets an unchanged record be recognised '
    'without parsing. Null until a run records it.';

create index custom_field_options_definition_id_idx
    on {{data}}.custom_field_options (definition_id);

-- Each row that was ever written has the id; of two rows with one id the later one stands.
delete from {{data}}.custom_fields as older
where older.custom_field_id is null
    or exists (
        select
        from {{data}}.custom_fields as newer
        where newer.custom_field_id = older.custom_field_id
            and (newer._observed_at, newer.entity_id, newer.api_slug)
                > (older._observed_at, older.entity_id, older.api_slug)
    );

alter table {{data}}.custom_fields
    drop constraint custom_fields_pkey,
    alter column entity_id drop not null,
    alter column api_slug drop not null,
    add constraint custom_fields_pkey primary key (custom_field_id),
    add column data_type text,
    add column value_text text,
    add column value_number numeric,
    add column value_date date,
    add column value_timestamp timestamptz,
    add column value_boolean boolean,
    add column value_list text[];

create index custom_fields_entity_id_idx on {{data}}.custom_fields (entity_id);

comment on table {{data}}.custom_fields is
    'One row per value of a custom field on a shipment, container or tracking request.';
comment on column {{data}}.custom_fields.entity_id is
    'Shipment, container or tracking request that has the value. From relationships.entity.';
comment on column {{data}}.custom_fields.api_slug is
    'Slug of the definition. From attributes.api_slug.';
comment on column {{data}}.custom_fields.value is
    'Value as it was sent. From attributes.value.';
comment on column {{data}}.custom_fields.display_value is
    'Value as shown to people; null where the service does not say. From '
    'attributes.display_value.';
comment on column {{data}}.custom_fields.entity_type is
    'shipment, container or tracking_request. From relationships.entity.';
comment on column {{data}}.custom_fields.definition_id is
    'Definition; custom_field_definitions. From relationships.definition.';
comment on column {{data}}.custom_fields.data_type is
    'Type by which the value was cast, from the definition; null where the definition is not known: '
    'then the value is cast by what it is in JSON.';
comment on column {{data}}.custom_fields.value_text is
    'Value of the types short_text, enum and reference. From attributes.value.';
comment on column {{data}}.custom_fields.value_number is
    'Value of the type number. From attributes.value.';
comment on column {{data}}.custom_fields.value_date is
    'Value of the type date. From attributes.value.';
comment on column {{data}}.custom_fields.value_timestamp is
    'Value of the type datetime. UTC. From attributes.value.';
comment on column {{data}}.custom_fields.value_boolean is
    'Value of the type boolean. From attributes.value.';
comment on column {{data}}.custom_fields.value_list is
    'Values of the type enum_multi. From attributes.value.';
