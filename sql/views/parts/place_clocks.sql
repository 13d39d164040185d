-- The zones in which days at the port and at the ramp are counted: port_zone.name, ramp_zone.name.
--
-- Joins to `container` and `shipment`, which the view names: the zone as sent, else that of the
-- port or ramp itself, its port or metro area. Null where there is none that PostgreSQL knows.
left join {{data}}.terminals as pod_terminal
    on pod_terminal.terminal_id = container.pod_terminal_id
left join {{data}}.ports as terminal_port
    on terminal_port.port_id = pod_terminal.port_id
left join {{data}}.ports as port
    on port.port_id = shipment.port_of_discharge_id
left join {{data}}.ports as inland_port
    on inland_port.port_id = shipment.destination_id
left join {{data}}.metro_areas as inland_city
    on inland_city.metro_area_id = shipment.destination_id
left join {{data}}.rail_terminals as rail_terminal
    on rail_terminal.rail_terminal_id = shipment.destination_terminal_id
left join {{data}}.ports as rail_port
    on rail_port.port_id = rail_terminal.port_id
left join {{data}}.metro_areas as rail_city
    on rail_city.metro_area_id = rail_terminal.metro_area_id
left join {{analytics}}.time_zones as port_zone
    on port_zone.name
        = coalesce(container.pod_timezone, terminal_port.time_zone, port.time_zone)
left join {{analytics}}.time_zones as ramp_zone
    on ramp_zone.name = coalesce(
        container.final_destination_timezone,
        rail_port.time_zone,
        rail_city.time_zone,
        inland_port.time_zone,
        inland_city.time_zone
    )
