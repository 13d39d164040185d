-- Holds as known at the instant asked for
--
-- One row per hold on a container that the source had: the version of the history that stood at the instant. Volatile attributes have no history
-- and are left out.

create view {{analytics}}.known_holds as
select
    version.container_id,
    version.hold_key,
    version.name,
    version.status,
    version.description
from {{data}}.container_hold_history as version
where version.valid_from <= {{analytics}}.as_of()
    and (version.valid_to is null or version.valid_to > {{analytics}}.as_of());

comment on view {{analytics}}.known_holds is
    'One row per hold that stands on a container, as known at as_of().';
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
