-- Names of transport events in which a ship takes a container on or off
--
-- One row per name, with its two parts: the kind of ship, and what it did. As rows, because
-- splitting names costs more than a join.

create view {{parts}}.ship_deeds as
select
    deed.event,
    deed.ship,
    deed.deed
from (
    values
        ('container.transport.transshipment_arrived', 'transshipment', 'arrived'),
        ('container.transport.transshipment_discharged', 'transshipment', 'discharged'),
        ('container.transport.transshipment_loaded', 'transshipment', 'loaded'),
        ('container.transport.transshipment_departed', 'transshipment', 'departed'),
        ('container.transport.feeder_arrived', 'feeder', 'arrived'),
        ('container.transport.feeder_discharged', 'feeder', 'discharged'),
        ('container.transport.feeder_loaded', 'feeder', 'loaded'),
        ('container.transport.feeder_departed', 'feeder', 'departed'),
        ('container.transport.vessel_arrived', 'vessel', 'arrived'),
        ('container.transport.vessel_discharged', 'vessel', 'discharged'),
        ('container.transport.vessel_loaded', 'vessel', 'loaded'),
        ('container.transport.vessel_departed', 'vessel', 'departed')
) as deed (event, ship, deed);
