-- Ports and inland places by UN/LOCODE
--
-- One row per UN/LOCODE: the port with it, else the inland place. Join it on any column whose name
-- ends in _locode. A code is missing here if the service never described its place.

create view {{analytics}}.places as
select distinct on (place.place_locode) place.*
from (
    select
        port.code as place_locode,
        port.name as place_name,
        'port' as place_kind,
        port.city,
        port.state_abbr,
        port.country_code,
        port.time_zone,
        port.latitude,
        port.longitude,
        port.port_id as place_id
    from {{data}}.ports as port
    where port._deleted_at is null and port.code is not null

    union all

    select
        inland.code,
        inland.name,
        'inland',
        null,
        inland.state_abbr,
        inland.country_code,
        inland.time_zone,
        inland.latitude,
        inland.longitude,
        inland.metro_area_id
    from {{data}}.metro_areas as inland
    where inland._deleted_at is null and inland.code is not null
) as place
order by place.place_locode, place.place_kind desc, place.place_id;
