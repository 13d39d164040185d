-- Holds that the source has now
--
-- One row per hold on a container that the source has now. The base of the other views: of the schema for questions as of an instant it
-- is the file of the same name in as_of/, with the same columns. Volatile attributes have no history and are left out.

create view {{analytics}}.known_holds as
select
    live.container_id,
    live.hold_key,
    live.name,
    live.status,
    live.description
from {{data}}.container_holds as live;

comment on view {{analytics}}.known_holds is
    'One row per hold that stands on a container, as it is now.';
comment on column {{analytics}}.known_holds.container_id is
    'Container; containers.';
comment on column {{analytics}}.known_holds.hold_key is
    'Tells holds of one container apart: by name and description, then by position.';
comment on column {{analytics}}.known_holds.name is
    'What holds the container, for example customs or freight.';
comment on column {{analytics}}.known_holds.status is
    'pending or hold; other values are kept.';
comment on column {{analytics}}.known_holds.description is
    'The terminal''s own words.';
