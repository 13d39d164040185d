-- Holds as known at an instant
--
-- One row per hold that was on a container then. The base of other views. Volatile attributes are
-- left out, because their history is not kept.
--
-- The lines after "now" make the view of the schema analytics, the lines after "as of" the view of
-- the schema as_of.

create view {{analytics}}.known_holds as
select
    record.container_id,
    record.hold_key,
    record.place,
    record.name,
    record.status,
    record.description,
    record.detail
-- now:
from {{data}}.container_holds as record;
-- as of:
from {{data}}.container_hold_history as record
where record.valid_from <= {{analytics}}.as_of()
    and (record.valid_to is null or record.valid_to > {{analytics}}.as_of());
-- end

comment on view {{analytics}}.known_holds is
    'One row per hold that is on a container, as known at as_of().';
comment on column {{analytics}}.known_holds.container_id is
    'Container; containers.';
comment on column {{analytics}}.known_holds.hold_key is
    'Distinguishes the holds of one container: by place, name and description, then by position.';
comment on column {{analytics}}.known_holds.place is
    'Where it holds the container: port or ramp.';
comment on column {{analytics}}.known_holds.name is
    'What holds the container, for example customs or freight.';
comment on column {{analytics}}.known_holds.status is
    'pending or hold; other values are kept.';
comment on column {{analytics}}.known_holds.description is
    'The terminal''s own words.';
comment on column {{analytics}}.known_holds.detail is
    'More of the terminal''s own words.';
