-- Shipping lines
--
-- One row per SCAC that a known shipment has at as_of(). shipping_line_name is that of its newest shipment.

create view {{analytics}}.shipping_lines as
select distinct on (shipment.shipping_line_scac)
    shipment.shipping_line_scac,
    coalesce(shipment.shipping_line_name, shipment.shipping_line_scac) as shipping_line_name,
    shipment.shipping_line_short_name as short_name
from {{parts}}.known_shipments as shipment
where shipment.shipping_line_scac is not null
order by
    shipment.shipping_line_scac,
    shipment.shipping_line_name is null,
    shipment.created_at desc,
    shipment.shipment_id;
