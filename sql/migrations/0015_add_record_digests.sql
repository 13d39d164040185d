-- What a row was written from, so that a record which has not changed need not be read again.
-- Placeholders {{data}}, {{sync}}, {{analytics}}, {{datasync}} are the schema names derived from TRACKING_SCHEMA.

alter table {{data}}.ports add column _digest text collate "C";
alter table {{data}}.metro_areas add column _digest text collate "C";
alter table {{data}}.terminals add column _digest text collate "C";
alter table {{data}}.rail_terminals add column _digest text collate "C";
alter table {{data}}.vessels add column _digest text collate "C";
alter table {{data}}.shipments add column _digest text collate "C";
alter table {{data}}.containers add column _digest text collate "C";
alter table {{data}}.transport_events add column _digest text collate "C";
alter table {{data}}.tracking_requests add column _digest text collate "C";
alter table {{data}}.custom_fields add column _digest text collate "C";
alter table {{data}}.webhook_event_categories add column _digest text collate "C";
alter table {{data}}.other_resources add column _digest text collate "C";

comment on column {{data}}.ports._digest is
    'Hash of the bytes the record was last written from; the same bytes need not be read again. '
    'Null until a run has noted it.';
comment on column {{data}}.metro_areas._digest is
    'Hash of the bytes the record was last written from; the same bytes need not be read again. '
    'Null until a run has noted it.';
comment on column {{data}}.terminals._digest is
    'Hash of the bytes the record was last written from; the same bytes need not be read again. '
    'Null until a run has noted it.';
comment on column {{data}}.rail_terminals._digest is
    'Hash of the bytes the record was last written from; the same bytes need not be read again. '
    'Null until a run has noted it.';
comment on column {{data}}.vessels._digest is
    'Hash of the bytes the record was last written from; the same bytes need not be read again. '
    'Null until a run has noted it.';
comment on column {{data}}.shipments._digest is
    'Hash of the bytes the record was last written from; the same bytes need not be read again. '
    'Null until a run has noted it.';
comment on column {{data}}.containers._digest is
    'Hash of the bytes the record was last written from; the same bytes need not be read again. '
    'Null until a run has noted it.';
comment on column {{data}}.transport_events._digest is
    'Hash of the bytes the record was last written from; the same bytes need not be read again. '
    'Null until a run has noted it.';
comment on column {{data}}.tracking_requests._digest is
    'Hash of the bytes the record was last written from; the same bytes need not be read again. '
    'Null until a run has noted it.';
comment on column {{data}}.custom_fields._digest is
    'Hash of the bytes the record was last written from; the same bytes need not be read again. '
    'Null until a run has noted it.';
comment on column {{data}}.webhook_event_categories._digest is
    'Hash of the bytes the record was last written from; the same bytes need not be read again. '
    'Null until a run has noted it.';
comment on column {{data}}.other_resources._digest is
    'Hash of the bytes the record was last written from; the same bytes need not be read again. '
    'Null until a run has noted it.';
